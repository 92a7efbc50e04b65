import {
  alternative,
  alternativeMatch,
  assertion,
  deadEnd,
  foldsCase,
  match,
  oneRune,
  rune,
} from "./pattern-codes.ts";
import type { PatternInstruction, PatternProgram } from "./pattern-program.ts";

/** What a match ends with. */
export interface LastCharacters {
  /** Of a program, by which those that were found before are told apart: 0, 1 and so on. */
  readonly index: number;
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
      if (instruction === undefined || instruction.op >= rune) continue;
      const { op, out, arg } = instruction;
      if (op === assertion) return false;
      if (op === match) isFound = true;
      else if (op !== deadEnd) seen.add(out);
      if (op === alternative || op === alternativeMatch) seen.add(arg);
    }
    return isFound;
  }

  /**
   * Finds what a longer match ends with that threads at these places come to; undefined: anything may be that, or an
   * assertion decides whether there is a match here. Places that ask for the same characters have the same.
   */
  after(places: readonly number[]): LastCharacters | undefined {
    if (places.some((place) => this.#areEnds[place] === 1) && !this.areSure(places))
      return undefined;
    const last = new Set<number>();
    const seen = new Set(places);
    for (const place of seen) {
      const instruction = this.#instructions[place];
      if (instruction === undefined) continue;
      const { op, out, arg } = instruction;
      seen.add(out);
      if (op === alternative || op === alternativeMatch) seen.add(arg);
      if (op < rune || this.#areEnds[out] !== 1) continue;
      const taken = charactersOf(instruction);
      if (taken === undefined) return undefined;
      for (const character of taken) last.add(character);
    }
    return this.#made([...last].sort((a, b) => a - b));
  }

  #made(characters: readonly number[]): LastCharacters {
    const units = characters.map((each) => (each > 0x7f ? beyondAscii : escapedUnit(each)));
    const source = `[${units.join("")}]`;
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const made = { index: this.#known.size, search: new RegExp(source, "g") };
    this.#known.set(source, made);
    return made;
  }
}

/** All but ASCII characters, in a class of the engine's expressions. */
export const beyondAscii = "\\u0080-\\uffff";

/** A character of a class of the engine's expressions. */
export function escapedUnit(unit: number): string {
  return `\\x${unit.toString(16).padStart(2, "0")}`;
}

function endsOf(instructions: readonly PatternInstruction[]): Uint8Array {
  const areEnds = Uint8Array.from(instructions, ({ op }) => (op === match ? 1 : 0));
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const [place, { op, out, arg }] of instructions.entries()) {
      if (op >= rune || areEnds[place] === 1) continue;
      const isOther = (op === alternative || op === alternativeMatch) && areEnds[arg] === 1;
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
  if (op !== rune && op !== oneRune) return undefined;
  const taken: number[] = [];
  for (let each = 0; each <= 0x7f; each++) {
    if (instruction.matchRune(each)) taken.push(each);
  }
  // Letters in either case have companions beyond ASCII.
  if ((arg & foldsCase) !== 0 || runes.some((each) => each > 0x7f)) taken.push(0x80);
  return taken;
}
