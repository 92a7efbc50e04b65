import { type Automaton, endsSurely, hasMatched, isDead } from "./automaton.ts";
import type { ComingEnds } from "./coming-ends.ts";
import { beforeOf } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { STATE_BITS } from "./state-table.ts";

/** A text as far as it has come. */
export interface ComingText {
  readonly text: string;
  /** Up to where its characters are whole. */
  readonly length: number;
  readonly ends: ComingEnds;
  /** Nothing comes behind it. */
  readonly isComplete: boolean;
  /** UTF-16 units of the longest match. */
  readonly longest: number;
}

/** What was passed over. */
export interface PassedText {
  readonly to: number;
  readonly matches: number;
  /** With the mask in the place of each match. */
  readonly output: string;
}

/**
 * Goes over a text from a place behind its first character, where no match has begun, as long as its matches are short: there
 * may be nearly as many of them as characters. `mask`: what stands in the place of a match; undefined: it stops before the
 * first one.
 */
export function passShortMatches(
  search: Search,
  known: ComingText,
  from: number,
  mask: string | undefined,
): PassedText {
  const { automaton, program, leavesIdle } = search;
  const { text, length } = known;
  const { generation } = automaton;
  let output = "";
  let matches = 0;
  /** How many of them have not been written. */
  let masks = 0;
  /** Where what has not been written begins that is no match. */
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
 * Where the match ends that begins at a place; that place itself: there is none, or an empty one; undefined: that is not
 * known within a few characters.
 */
function endOf(
  { automaton }: Search,
  { text, length, ends, isComplete, longest }: ComingText,
  from: number,
  begun: number,
): number | undefined {
  let state = begun;
  let end = from;
  for (let at = from; at < length; at += sizeAt(text, at)) {
    if (at > from + (end === from ? MAX_VAIN : MAX_SHORT)) return undefined;
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

/** Longer matches, in UTF-16 units, are read as others are. */
export const MAX_SHORT = 16;

/** What does not come to a match for so long may not for longer, and characters would be read again and again. */
const MAX_VAIN = 2;

function sizeAt(text: string, at: number): number {
  return text.charCodeAt(at) > 127 && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The state behind the character at a place. */
function stateAt(automaton: Automaton, state: number, text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = unit < 128 ? (automaton.ascii[(state >> STATE_BITS) * 128 + unit] ?? 0) : 0;
  return known === 0 ? automaton.next(state, text.codePointAt(at) ?? unit) : known;
}
