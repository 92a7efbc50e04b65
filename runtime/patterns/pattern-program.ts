import type { Pattern } from "../cel/functions/pattern.ts";
import { isAmbiguous, isOptional, meaningsOf } from "./ambiguous-character.ts";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ANY_BUT_LINE_FEED,
  ANY_RUNE,
  assertion,
  DEAD_END,
  FOLDS_CASE,
  GROUP_EDGE,
  LINE_BEGINS,
  LINE_ENDS,
  match,
  NO_WORD_BOUNDARY,
  ONE_RUNE,
  PASSAGE,
  RUNE,
  TEXT_BEGINS,
  TEXT_ENDS,
  WORD_BOUNDARY,
} from "./pattern-codes.ts";

/** What a pattern of RE2 syntax compiles to: instructions of a machine with many threads. */
export interface PatternProgram {
  readonly instructions: readonly PatternInstruction[];
  /** Where matches begin. */
  readonly start: number;
  /** There are assertions: a match may be empty at one place of a text and not at another one. */
  readonly asks: boolean;
  /** Some ask for more than what comes next: a word boundary, the beginning of a line. */
  readonly asksWords: boolean;
  readonly asksLines: boolean;
}

/** One instruction; `out` and `arg` are places of others. */
export interface PatternInstruction {
  readonly op: number;
  readonly out: number;
  /** Of an alternative: its second branch; of an assertion: what it asks for. */
  readonly arg: number;
  /** The one character of a literal, or the ends of ranges. */
  readonly runes: Int32Array;
  matchRune(codePoint: number): boolean;
}

/** The program of a compiled pattern. */
export function programOf({ re2Input }: Pattern): PatternProgram {
  const { inst: instructions, start }: { inst: readonly PatternInstruction[]; start: number } =
    re2Input.prog;
  const asks = (flags: number): boolean =>
    instructions.some(({ op, arg }) => op === assertion && (arg & flags) !== 0);
  return {
    instructions,
    start,
    asks: instructions.some(({ op }) => op === assertion),
    asksWords: asks(WORD_BOUNDARY | NO_WORD_BOUNDARY),
    asksLines: asks(LINE_BEGINS),
  };
}

/** The characters without each of which nothing matches from any of these places on, as far as they are known. */
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

/** Whether a program comes back to where it was: its matches may have any length. */
export function hasLoop({ instructions, start }: PatternProgram): boolean {
  /** 1: it is being followed; 2: nothing comes back from it. */
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
  if (op === match || op === DEAD_END) return [];
  return op === ALTERNATIVE || op === ALTERNATIVE_MATCH ? [out, arg] : [out];
}

/** The one character that an instruction takes; undefined: it takes others too, or none. */
function soleCharacter({ op, arg, runes }: PatternInstruction): number | undefined {
  const isOne = runes.length === 1 && (op === ONE_RUNE || (op === RUNE && arg === 0));
  return isOne ? runes[0] : undefined;
}

/** Whether a match may begin with a character that is not ASCII, or be empty. */
export function beginsBeyondAscii({ instructions, start }: PatternProgram): boolean {
  const seen = new Set([start]);
  for (const place of seen) {
    const instruction = instructions[place];
    if (instruction === undefined) continue;
    const { op, out, arg, runes } = instruction;
    switch (op) {
      case RUNE:
      case ONE_RUNE:
        // Letters in either case have companions beyond ASCII: K, and the sign for kelvin.
        if ((arg & FOLDS_CASE) !== 0 || runes.some((each) => each > 0x7f)) return true;
        break;
      case ALTERNATIVE:
      case ALTERNATIVE_MATCH:
        seen.add(out).add(arg);
        break;
      case assertion:
      case GROUP_EDGE:
      case PASSAGE:
        seen.add(out);
        break;
      case match:
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
    if (op === match) return true;
    seen.add(out);
    if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) seen.add(arg);
  }
  return false;
}

/** What stands beside a place of a text, as far as assertions ask. */
export type Beside =
  | typeof NO_TEXT
  | typeof LINE_FEED
  | typeof WORD_CHARACTER
  | typeof OTHER_CHARACTER
  | typeof ANY_CHARACTER;

/** The text begins or ends there. */
export const NO_TEXT = 0;
/** A line feed. */
export const LINE_FEED = 1;
/** A character of a word. */
export const WORD_CHARACTER = 2;
/** Another one, or one that no assertion asks about. */
export const OTHER_CHARACTER = 3;

/** One that may be of a word, or nothing. */
export const ANY_CHARACTER = 4;
/** How many there are. */
export const besides = 5;

/** What stands after the last character of a text. */
export const TEXT_END = -1;

/** What assertions hold between what stands before and a code point, or the end of the text. */
export function assertionsAt(before: Beside, next: number): number {
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

/** What a code point is for what comes after it. */
export function beforeOf(codePoint: number, { asksWords, asksLines }: PatternProgram): Beside {
  if (asksLines && codePoint === 0x0a) return LINE_FEED;
  if (!asksWords) return OTHER_CHARACTER;
  if (isOptional(codePoint)) return ANY_CHARACTER;
  return isWord(codePoint) ? WORD_CHARACTER : OTHER_CHARACTER;
}

/** A word is made of ASCII letters, digits and `_`, as in RE2. */
function isWord(codePoint: number): boolean {
  return (
    isAmbiguous(codePoint) ||
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    codePoint === 0x5f ||
    (codePoint >= 0x61 && codePoint <= 0x7a)
  );
}

/** Whether an instruction goes on over a code point. */
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

/** Moves threads over one code point. The first of two threads at one place is the one that counts. */
export class Stepper {
  readonly #program: PatternProgram;
  /** When a place was reached last. */
  readonly #reached: Uint32Array;
  #round = 0;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#reached = new Uint32Array(program.instructions.length);
  }

  /** A new code point is read. */
  begin(): void {
    this.#round += 1;
  }

  /**
   * Calls `moved` with the places to which a thread moves over a code point; true: it has matched before it, and what
   * comes after it counts no more.
   */
  step(place: number, before: Beside, next: number, moved: (place: number) => void): boolean {
    // A match that has begun may go on as if it were not there.
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
        case assertion:
          if ((arg & ~holding) !== 0) return false;
          place = out;
          break;
        case GROUP_EDGE:
        case PASSAGE:
          place = out;
          break;
        case match:
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
