import { type Automaton, endsSurely, hasMatched, isDead, isIdle } from "./automaton.ts";
import type { ComingEnds } from "./coming-ends.ts";
import { beforeOf, otherCharacter } from "./pattern-program.ts";
import type { Search } from "./search.ts";
import { stateBits } from "./state-table.ts";

/** A text as far as it has come. */
export interface ComingText {
  readonly text: string;
  /** Up to where its characters are whole. */
  readonly length: number;
  readonly ends: ComingEnds;
  /** Nothing comes behind it. */
  readonly isComplete: boolean;
}

/** What was passed over. */
export interface PassedText {
  readonly to: number;
  readonly matches: number;
  /** With the mask in the place of each match. */
  readonly output: string;
}

/**
 * Goes over a text from a place behind its first character, where no match has begun, as long as its matches are short and
 * complete with their first character: there may be as many of them as characters. `mask`: what stands in the place of a
 * match; undefined: it stops before the first one.
 */
export function passShortMatches(
  { automaton, program, settings, leavesIdle }: Search,
  known: ComingText,
  from: number,
  mask: string | undefined,
): PassedText {
  const { text, length, ends, isComplete } = known;
  const asks = program.asksWords || program.asksLines;
  const { generation } = automaton;
  let initial = automaton.initial(otherCharacter);
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
    if (asks) initial = automaton.initial(beforeOf(text.charCodeAt(at - 1), program));
    const state = stateAt(automaton, initial, text, at);
    if (automaton.generation !== generation) break;
    const after = at + (unit > 127 && (text.codePointAt(at) ?? unit) > 0xffff ? 2 : 1);
    if (endsSurely(state)) {
      if (mask === undefined) break;
      const end = endOf(automaton, state, known, after, settings.longest);
      if (end === undefined || automaton.generation !== generation) break;
      if (rest < at) {
        output += mask.repeat(masks) + text.slice(rest, at);
        masks = 0;
      }
      masks += 1;
      matches += 1;
      rest = end;
      at = end;
      continue;
    }
    if (!isIdle(state) && !isDead(state)) {
      // An empty match waits for longer ones; without one, whatever would be a match.
      const lookahead = hasMatched(state) ? at + settings.longest : length;
      if (!ends.areBefore(text, state, after, lookahead, isComplete)) break;
    }
    at = after;
  }
  if (mask !== undefined) output += mask.repeat(masks) + text.slice(rest, at);
  return { to: at, matches, output };
}

/**
 * The end of a match that is complete with one character or more, the last of which has led to a state; undefined: it is not
 * a short one, or goes on behind the text.
 */
function endOf(
  automaton: Automaton,
  initial: number,
  { text, length, ends, isComplete }: ComingText,
  from: number,
  longest: number,
): number | undefined {
  let state = initial;
  for (let at = from; at <= from + maxShort; ) {
    if (at === length && !isComplete) return undefined;
    if (ends.areBefore(text, state, at, at + longest, isComplete)) return at;
    if (at === length) return undefined;
    const next = stateAt(automaton, state, text, at);
    if (isDead(next)) return at;
    if (!endsSurely(next)) return undefined;
    state = next;
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return undefined;
}

/** Longer matches, in UTF-16 units, are read as others are. */
export const maxShort = 16;

/** The state behind the character at a place. */
function stateAt(automaton: Automaton, state: number, text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = unit < 128 ? (automaton.ascii[(state >> stateBits) * 128 + unit] ?? 0) : 0;
  return known === 0 ? automaton.next(state, text.codePointAt(at) ?? unit) : known;
}
