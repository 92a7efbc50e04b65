import type { Pattern } from "../cel/functions/pattern.ts";
import { isAmbiguous, isOptional, meaningsOf } from "./ambiguous-character.ts";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ANY_BUT_LINE_FEED,
  ANY_RUNE,
  ASSERTION,
  DEAD_END,
  FOLDS_CASE,
  GROUP_EDGE,
  LINE_BEGINS,
  LINE_ENDS,
  MATCH,
  NO_WORD_BOUNDARY,
  ONE_RUNE,
  PASSAGE,
  RUNE,
  TEXT_BEGINS,
  TEXT_ENDS,
  WORD_BOUNDARY,
} from "./pattern-codes.ts";

/** Compiled form of a pattern in RE2 syntax: instructions of a machine with many threads. */
export interface PatternProgram {
  readonly instructions: readonly PatternInstruction[];
  /** Place where matches start. */
  readonly start: number;
  /** Whether there are assertions, so that a match may be empty at one place of a text and not at another. */
  readonly hasAssertions: boolean;
  /** Whether assertions depend on the preceding character: word boundaries, or starts of lines. */
  readonly hasWordBoundaries: boolean;
  readonly hasLineStarts: boolean;
}

/** One instruction; `out` and `arg` are places of others. */
export interface PatternInstruction {
  readonly op: number;
  readonly out: number;
  /** Second branch of an alternative, or flags of an assertion. */
  readonly arg: number;
  /** The character of a literal, or the bounds of ranges. */
  readonly runes: Int32Array;
  matchRune(codePoint: number): boolean;
}

/** Returns the program of a compiled pattern. */
export function programOf({ re2Input }: Pattern): PatternProgram {
  const { inst: instructions, start }: { inst: readonly PatternInstruction[]; start: number } =
    re2Input.prog;
  const asks = (flags: number): boolean =>
    instructions.some(({ op, arg }) => op === ASSERTION && (arg & flags) !== 0);
  return {
    instructions,
    start,
    hasAssertions: instructions.some(({ op }) => op === ASSERTION),
    hasWordBoundaries: asks(WORD_BOUNDARY | NO_WORD_BOUNDARY),
    hasLineStarts: asks(LINE_BEGINS),
  };
}

/** Returns the characters that every match from any of these places contains, as far as they can be derived. */
export function requiredCharacters(
  instructions: readonly PatternInstruction[],
  places: readonly number[],
): readonly string[] {
  const characters = instructions.flatMap((each) => soleCharacter(each) ?? []);
  return [...new Set(characters)]
    .filter((character) => {
      const isAvoided = (each: PatternInstruction): boolean => soleCharacter(each) === character;
      return !reachMatch(instructions, places, isAvoided);
    })
    .map((character) => String.fromCodePoint(character));
}

/** Whether a program has a loop, so that its matches may have any length. */
export function hasLoop({ instructions, start }: PatternProgram): boolean {
  /** 1: being visited; 2: not part of a loop. */
  const states = new Uint8Array(instructions.length);
  const path = [start];
  while (path.length > 0) {
    const place = path.at(-1) ?? start;
    states[place] = 1;
    const nexts = nextPlaces(instructions[place]);
    if (nexts.some((next) => states[next] === 1)) return true;
    const next = nexts.find((each) => states[each] === 0);
    if (next !== undefined) path.push(next);
    else {
      states[place] = 2;
      path.pop();
    }
  }
  return false;
}

function nextPlaces(instruction: PatternInstruction | undefined): readonly number[] {
  if (instruction === undefined) return [];
  const { op, out, arg } = instruction;
  if (op === MATCH || op === DEAD_END) return [];
  return op === ALTERNATIVE || op === ALTERNATIVE_MATCH ? [out, arg] : [out];
}

/** Returns the only character that an instruction matches; `undefined` if it matches others too, or consumes none. */
function soleCharacter({ op, arg, runes }: PatternInstruction): number | undefined {
  const isOne = runes.length === 1 && (op === ONE_RUNE || (op === RUNE && arg === 0));
  return isOne ? runes[0] : undefined;
}

/** Whether a match may start with a character beyond ASCII, or be empty. */
export function beginsBeyondAscii({ instructions, start }: PatternProgram): boolean {
  const seen = new Set([start]);
  for (const place of seen) {
    const instruction = instructions[place];
    if (instruction === undefined) continue;
    const { op, out, arg, runes } = instruction;
    switch (op) {
      case RUNE:
      case ONE_RUNE:
        // Case folding adds characters beyond ASCII: K, and the Kelvin sign.
        if ((arg & FOLDS_CASE) !== 0 || runes.some((each) => each > 0x7f)) return true;
        break;
      case ALTERNATIVE:
      case ALTERNATIVE_MATCH:
        seen.add(out).add(arg);
        break;
      case ASSERTION:
      case GROUP_EDGE:
      case PASSAGE:
        seen.add(out);
        break;
      case MATCH:
      case ANY_RUNE:
      case ANY_BUT_LINE_FEED:
        return true;
    }
  }
  return false;
}

function reachMatch(
  instructions: readonly PatternInstruction[],
  places: readonly number[],
  isAvoided: (instruction: PatternInstruction) => boolean,
): boolean {
  const seen = new Set(places);
  for (const place of seen) {
    const instruction = instructions[place];
    if (instruction === undefined || isAvoided(instruction)) continue;
    const { op, out, arg } = instruction;
    if (op === MATCH) return true;
    seen.add(out);
    if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) seen.add(arg);
  }
  return false;
}

/** Kind of character next to a place of a text, as far as assertions distinguish it. */
export type Neighbor =
  | typeof NO_TEXT
  | typeof LINE_FEED
  | typeof WORD_CHARACTER
  | typeof OTHER_CHARACTER
  | typeof ANY_CHARACTER;

/** Start or end of the text. */
export const NO_TEXT = 0;
/** A line feed. */
export const LINE_FEED = 1;
/** A word character. */
export const WORD_CHARACTER = 2;
/** Another character, or one that no assertion distinguishes. */
export const OTHER_CHARACTER = 3;

/** A character that may be a word character, or read as nothing. */
export const ANY_CHARACTER = 4;
/** Number of kinds. */
export const NEIGHBOR_KINDS = 5;

/** Code point after the last character of a text. */
export const TEXT_END = -1;

/** Returns the flags of assertions that hold between a neighbor and a code point, or the end of the text. */
export function assertionsAt(before: Neighbor, next: number): number {
  const isBoundary = (before === WORD_CHARACTER) !== isWord(next);
  const isEither = before === ANY_CHARACTER || isOptional(next);
  let holding = isEither
    ? WORD_BOUNDARY | NO_WORD_BOUNDARY
    : isBoundary
      ? WORD_BOUNDARY
      : NO_WORD_BOUNDARY;
  if (before === NO_TEXT) holding |= TEXT_BEGINS | LINE_BEGINS;
  if (before === LINE_FEED) holding |= LINE_BEGINS;
  if (next === TEXT_END) holding |= TEXT_ENDS | LINE_ENDS;
  if (next === 0x0a) holding |= LINE_ENDS;
  return holding;
}

/** Returns the kind of neighbor that a code point is for the place after it. */
export function beforeOf(
  codePoint: number,
  { hasWordBoundaries, hasLineStarts }: PatternProgram,
): Neighbor {
  if (hasLineStarts && codePoint === 0x0a) return LINE_FEED;
  if (!hasWordBoundaries) return OTHER_CHARACTER;
  if (isOptional(codePoint)) return ANY_CHARACTER;
  return isWord(codePoint) ? WORD_CHARACTER : OTHER_CHARACTER;
}

/** Whether a character is an ASCII letter, digit or `_`, as RE2 defines words. */
function isWord(codePoint: number): boolean {
  return (
    isAmbiguous(codePoint) ||
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    codePoint === 0x5f ||
    (codePoint >= 0x61 && codePoint <= 0x7a)
  );
}

/** Whether an instruction consumes a code point. */
export function takes(instruction: PatternInstruction, codePoint: number): boolean {
  switch (instruction.op) {
    case ANY_RUNE:
      return true;
    case ANY_BUT_LINE_FEED:
      return codePoint !== 0x0a;
    case RUNE:
    case ONE_RUNE:
      return isAmbiguous(codePoint)
        ? meaningsOf(codePoint).some((each) => instruction.matchRune(each))
        : instruction.matchRune(codePoint);
    default:
      return false;
  }
}

/** Moves threads over one code point. Of two threads at one place, the first counts. */
export class Stepper {
  readonly #program: PatternProgram;
  /** Round in which a place was reached last. */
  readonly #reached: Uint32Array;
  #round = 0;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#reached = new Uint32Array(program.instructions.length);
  }

  /** Starts a round for a new code point. */
  begin(): void {
    this.#round += 1;
  }

  /**
   * Calls `moved` with the places that a thread reaches over a code point. Returns true if it matched before the code point,
   * so that threads of lower priority do not count.
   */
  step(place: number, before: Neighbor, next: number, moved: (place: number) => void): boolean {
    // A started match may skip an optional character.
    if (isOptional(next) && place !== this.#program.start) moved(place);
    return this.#follow(place, assertionsAt(before, next), next, moved);
  }

  #follow(from: number, holding: number, next: number, moved: (place: number) => void): boolean {
    let place = from;
    for (;;) {
      if (this.#reached[place] === this.#round) return false;
      this.#reached[place] = this.#round;
      const instruction = this.#program.instructions[place];
      if (instruction === undefined) return false;
      const { op, out, arg } = instruction;
      switch (op) {
        case ALTERNATIVE:
        case ALTERNATIVE_MATCH:
          if (this.#follow(out, holding, next, moved)) return true;
          place = arg;
          break;
        case ASSERTION:
          if ((arg & ~holding) !== 0) return false;
          place = out;
          break;
        case GROUP_EDGE:
        case PASSAGE:
          place = out;
          break;
        case MATCH:
          return true;
        case DEAD_END:
          return false;
        default:
          if (next !== TEXT_END && takes(instruction, next)) moved(out);
          return false;
      }
    }
  }
}
