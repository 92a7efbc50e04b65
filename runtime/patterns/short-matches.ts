import { type Automaton, endsSurely, hasMatched, isDead } from "./automaton.ts";
import { beforeOf } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { STATE_BITS } from "./state-table.ts";
import type { UpcomingEnds } from "./upcoming-ends.ts";

/** The part of a text that has arrived. */
export interface ArrivedText {
  readonly text: string;
  /** Place up to which its characters are complete. */
  readonly length: number;
  readonly ends: UpcomingEnds;
  /** Whether no more pieces follow. */
  readonly isComplete: boolean;
  /** Maximum length of a match, in UTF-16 units. */
  readonly longest: number;
}

/** Result of skipping short matches. */
export interface PassedText {
  readonly to: number;
  readonly matches: number;
  /** Text with the mask instead of each match. */
  readonly output: string;
}

/**
 * Reads a text from a place after its first character, where no match has started, for as long as its matches are short:
 * there may be nearly as many of them as characters. `mask` replaces each match; if `undefined`, stops before the first one.
 */
export function passShortMatches(
  search: Search,
  known: ArrivedText,
  from: number,
  mask: string | undefined,
): PassedText {
  const { automaton, program, leavesIdle } = search;
  const { text, length } = known;
  const { generation } = automaton;
  let output = "";
  let matches = 0;
  /** Number of masks that are not written yet. */
  let masks = 0;
  /** Start of the text after the last match, which is not written yet. */
  let rest = from;
  let at = from;
  while (at < length) {
    const unit = text.charCodeAt(at);
    if (unit < 128 && leavesIdle[unit] === 0) {
      at += 1;
      continue;
    }
    const before = beforeOf(text.charCodeAt(at - 1), program);
    const end = endOf(search, known, at, automaton.begun(before));
    if (end === undefined || automaton.generation !== generation) break;
    if (end === at) {
      at += sizeAt(text, at);
      continue;
    }
    if (mask === undefined) break;
    if (rest < at) {
      output += mask.repeat(masks) + text.slice(rest, at);
      masks = 0;
    }
    masks += 1;
    matches += 1;
    rest = end;
    at = end;
  }
  if (mask !== undefined) output += mask.repeat(masks) + text.slice(rest, at);
  return { to: at, matches, output };
}

/**
 * Returns the end of the match that starts at a place: the place itself if nothing or an empty match starts there; `undefined` if a
 * few characters do not decide it.
 */
function endOf(
  { automaton }: Search,
  { text, length, ends, isComplete, longest }: ArrivedText,
  from: number,
  begun: number,
): number | undefined {
  let state = begun;
  let end = from;
  for (let at = from; at < length; at += sizeAt(text, at)) {
    if (at > from + (end === from ? MAX_UNFINISHED : MAX_SHORT)) return undefined;
    const next = stateAt(automaton, state, text, at);
    if (hasMatched(next)) end = at;
    if (isDead(next)) return end;
    state = next;
    const after = at + sizeAt(text, at);
    const isEnd = endsSurely(state);
    if (isEnd && after === length && !isComplete) return undefined;
    if (isEnd) end = after;
    const isFound = end > from || hasMatched(state);
    const lookahead = isFound ? end + longest : Number.POSITIVE_INFINITY;
    if (ends.areBefore(text, state, after, lookahead, isComplete)) return end;
  }
  return undefined;
}

/** Maximum length of short matches, in UTF-16 units. Longer ones are read like others. */
export const MAX_SHORT = 16;

/**
 * Number of characters after which an unfinished match is given up: it may continue for long, and characters would be read
 * again and again.
 */
const MAX_UNFINISHED = 2;

function sizeAt(text: string, at: number): number {
  return text.charCodeAt(at) > 127 && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Returns the state after the character at a place. */
function stateAt(automaton: Automaton, state: number, text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = unit < 128 ? (automaton.ascii[(state >> STATE_BITS) * 128 + unit] ?? 0) : 0;
  return known === 0 ? automaton.next(state, text.codePointAt(at) ?? unit) : known;
}
