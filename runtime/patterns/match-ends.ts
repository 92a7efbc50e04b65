import { AMBIGUOUS_UNITS } from "./ambiguous-character.ts";
import {
  ALTERNATIVE,
  ALTERNATIVE_MATCH,
  assertion,
  DEAD_END,
  FOLDS_CASE,
  match,
  ONE_RUNE,
  RUNE,
} from "./pattern-codes.ts";
import {
  type PatternInstruction,
  type PatternProgram,
  requiredCharacters,
} from "./pattern-program.ts";

/** Characters without one of which no match goes on: what it ends with, or one that all of them have before. */
export interface LastCharacters {
  /** Of a program, by which those that were found before are told apart: 0, 1 and so on. */
  readonly index: number;
  /** By ASCII character: 1 if it is one of them. */
  readonly ascii: Uint8Array;
  /** Finds one of them. */
  readonly search: RegExp;
}

/** What the matches of a program end with. */
export class MatchEnds {
  readonly #instructions: readonly PatternInstruction[];
  /** By place: 1 where no character is needed any more, whatever assertions ask. */
  readonly #areEnds: Uint8Array;
  readonly #known = new Map<string, LastCharacters>();

  constructor({ instructions }: PatternProgram) {
    this.#instructions = instructions;
    this.#areEnds = endsOf(instructions);
  }

  /** Whether a thread at one of these places has come to a match, and no assertion is asked. */
  areSure(places: readonly number[]): boolean {
    if (!places.some((place) => this.#areEnds[place] === 1)) return false;
    let isFound = false;
    const seen = new Set(places);
    for (const place of seen) {
      const instruction = this.#instructions[place];
      if (instruction === undefined || instruction.op >= RUNE) continue;
      const { op, out, arg } = instruction;
      if (op === assertion) return false;
      if (op === match) isFound = true;
      else if (op !== DEAD_END) seen.add(out);
      if (op === ALTERNATIVE || op === ALTERNATIVE_MATCH) seen.add(arg);
    }
    return isFound;
  }

  /**
   * Finds what a longer match must have that threads at these places come to; undefined: anything may be that, or an
   * assertion decides whether there is a match here. Places that ask for the same characters have the same.
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
      else if (op !== match && op !== DEAD_END) seen.add(out);
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

/** Of larger programs it would take long to find what is required: each state would ask for it. */
const MAX_INSTRUCTIONS = 64;

/** All but ASCII characters, in a class of the engine's expressions. */
export const BEYOND_ASCII = "\\u0080-\\uffff";

/** A character of a class of the engine's expressions. */
export function escapedUnit(unit: number): string {
  return `\\x${unit.toString(16).padStart(2, "0")}`;
}

function endsOf(instructions: readonly PatternInstruction[]): Uint8Array {
  const areEnds = Uint8Array.from(instructions, ({ op }) => (op === match ? 1 : 0));
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

/** ASCII characters that an instruction takes, and one beyond for all others; undefined: nearly all. */
function charactersOf(instruction: PatternInstruction): readonly number[] | undefined {
  const { op, arg, runes } = instruction;
  if (op !== RUNE && op !== ONE_RUNE) return undefined;
  const taken: number[] = [];
  for (let each = 0; each <= 0x7f; each++) {
    if (instruction.matchRune(each)) taken.push(each);
  }
  // Letters in either case have companions beyond ASCII.
  if ((arg & FOLDS_CASE) !== 0 || runes.some((each) => each > 0x7f)) taken.push(0x80);
  return taken;
}
