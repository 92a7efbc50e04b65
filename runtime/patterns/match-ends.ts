import { AMBIGUOUS_UNITS } from "./ambiguous-character.ts";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  ASSERTION,
  DEAD_END,
  FOLDS_CASE,
  MATCH,
  ONE_RUNE,
  RUNE,
} from "./pattern-codes.ts";
import {
  type PatternInstruction,
  type PatternProgram,
  requiredCharacters,
} from "./pattern-program.ts";

/**
 * Characters one of which a match needs to continue: its possible last characters, or one that occurs in every continuation.
 */
export interface LastCharacters {
  /** Index within the program: 0, 1 and so on. */
  readonly index: number;
  /** By ASCII character: 1 if it is one of them. */
  readonly ascii: Uint8Array;
  /** Matches one of them. */
  readonly search: RegExp;
}

/** Last characters of the matches of a program. */
export class MatchEnds {
  readonly #instructions: readonly PatternInstruction[];
  /** By place: 1 if no further character is needed, apart from assertions. */
  readonly #areEnds: Uint8Array;
  readonly #known = new Map<string, LastCharacters>();

  constructor({ instructions }: PatternProgram) {
    this.#instructions = instructions;
    this.#areEnds = endsOf(instructions);
  }

  /** Whether a thread at one of these places has reached a match without any assertion. */
  areSure(places: readonly number[]): boolean {
    if (!places.some((place) => this.#areEnds[place] === 1)) return false;
    let isFound = false;
    const seen = new Set(places);
    for (const place of seen) {
      const instruction = this.#instructions[place];
      if (instruction === undefined || instruction.op >= RUNE) continue;
      const { op, out, arg } = instruction;
      if (op === ASSERTION) return false;
      if (op === MATCH) isFound = true;
      else if (op !== DEAD_END) seen.add(out);
      if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) seen.add(arg);
    }
    return isFound;
  }

  /**
   * Returns the characters that a longer match needs from threads at these places; `undefined` if any character may do, or
   * if an assertion decides whether there is a match here. Places that need the same characters share the result.
   */
  after(places: readonly number[]): LastCharacters | undefined {
    if (places.some((place) => this.#areEnds[place] === 1) && !this.areSure(places))
      return undefined;
    const required =
      this.#instructions.length > MAX_INSTRUCTIONS ? [] : this.#requiredAfter(places);
    if (required.length > 0) return this.#made([required.at(-1)?.codePointAt(0) ?? 0]);
    const last = new Set<number>();
    const seen = new Set(places);
    for (const place of seen) {
      const instruction = this.#instructions[place];
      if (instruction === undefined) continue;
      const { op, out, arg } = instruction;
      seen.add(out);
      if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) seen.add(arg);
      if (op < RUNE || this.#areEnds[out] !== 1) continue;
      const taken = charactersOf(instruction);
      if (taken === undefined) return undefined;
      for (const character of taken) last.add(character);
    }
    return this.#made([...last].sort((a, b) => a - b));
  }

  #requiredAfter(places: readonly number[]): readonly string[] {
    const seen = new Set(places);
    const takers: number[] = [];
    for (const place of seen) {
      const { op = DEAD_END, out = 0, arg = 0 } = this.#instructions[place] ?? {};
      if (op >= RUNE) takers.push(place);
      else if (op !== MATCH && op !== DEAD_END) seen.add(out);
      if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) seen.add(arg);
    }
    return takers.length === 0 ? [] : requiredCharacters(this.#instructions, takers);
  }

  #made(characters: readonly number[]): LastCharacters {
    const units = characters.map((each) => (each > 0x7f ? BEYOND_ASCII : escapedUnit(each)));
    const source = `[${units.join("")}${AMBIGUOUS_UNITS}]`;
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const ascii = Uint8Array.from({ length: 128 }, (_, each) => Number(characters.includes(each)));
    const made = { index: this.#known.size, ascii, search: new RegExp(source, "g") };
    this.#known.set(source, made);
    return made;
  }
}

/** Maximum size of programs whose required characters are computed, because every state computes them. */
const MAX_INSTRUCTIONS = 64;

/** Range for a character class: everything but ASCII. */
export const BEYOND_ASCII = "\\u0080-\\uffff";

/** Returns the escape of a character for a character class. */
export function escapedUnit(unit: number): string {
  return `\\x${unit.toString(16).padStart(2, "0")}`;
}

function endsOf(instructions: readonly PatternInstruction[]): Uint8Array {
  const areEnds = Uint8Array.from(instructions, ({ op }) => (op === MATCH ? 1 : 0));
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const [place, { op, out, arg }] of instructions.entries()) {
      if (op >= RUNE || areEnds[place] === 1) continue;
      const isOther = (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) && areEnds[arg] === 1;
      if (areEnds[out] !== 1 && !isOther) continue;
      areEnds[place] = 1;
      isNew = true;
    }
  }
  return areEnds;
}

/**
 * Returns the ASCII characters that an instruction matches, with one character beyond ASCII for all others; `undefined` if
 * it matches nearly everything.
 */
function charactersOf(instruction: PatternInstruction): readonly number[] | undefined {
  const { op, arg, runes } = instruction;
  if (op !== RUNE && op !== ONE_RUNE) return undefined;
  const taken: number[] = [];
  for (let each = 0; each <= 0x7f; each++) {
    if (instruction.matchRune(each)) taken.push(each);
  }
  // Case folding adds characters beyond ASCII.
  if ((arg & FOLDS_CASE) !== 0 || runes.some((each) => each > 0x7f)) taken.push(0x80);
  return taken;
}
