import { isPlainUnit, readCharacter } from "./character-reading.ts";
import { ONE_RUNE, RUNE } from "./pattern-codes.ts";
import type { PatternInstruction } from "./pattern-program.ts";

/**
 * Characters that a pattern names explicitly: `é`, `–`, `[\x{200b}-\x{200f}]`. The pattern is matched against these
 * characters as they are written, and against the reading of all others.
 */
export class NamedCharacters {
  /** Instructions that may name such a character. */
  readonly #instructions: readonly PatternInstruction[];
  readonly #known = new Map<number, boolean>();
  #composed: ReadonlyMap<string, readonly ComposedCharacter[]> | undefined;

  private constructor(instructions: readonly PatternInstruction[]) {
    this.#instructions = instructions;
  }

  /** Returns `undefined` if a pattern names no such character. */
  static of(instructions: readonly PatternInstruction[]): NamedCharacters | undefined {
    const naming = instructions.filter(
      (each) => (each.op === RUNE || each.op === ONE_RUNE) && namesUnplain(each) && !isOfMost(each),
    );
    return naming.length === 0 ? undefined : new NamedCharacters(naming);
  }

  /** Whether the pattern names a character. */
  has(character: string): boolean {
    const codePoint = character.codePointAt(0) ?? 0;
    const known = this.#known.get(codePoint);
    if (known !== undefined) return known;
    const has = this.#names(character, codePoint, readCharacter(character));
    if (this.#known.size < MAX_KNOWN) this.#known.set(codePoint, has);
    return has;
  }

  /**
   * Named characters that are a letter with marks, or a syllable, by their base letter. Those with the most marks come
   * first.
   */
  get composed(): ReadonlyMap<string, readonly ComposedCharacter[]> {
    this.#composed ??= this.#findComposed();
    return this.#composed;
  }

  #findComposed(): ReadonlyMap<string, readonly ComposedCharacter[]> {
    const found = new Map<string, ComposedCharacter[]>();
    // An instruction that matches nearly everything beyond ASCII matches bare letters and marks as well.
    if (this.#instructions.some((each) => sizeOf(each) > MAX_OTHERS)) return found;
    for (const composed of composedCharacters()) {
      const { character, base, bare } = composed;
      const codePoint = character.codePointAt(0) ?? 0;
      const isNamed = this.#names(character, codePoint, bare);
      if (isNamed) found.set(base, [...(found.get(base) ?? []), composed]);
    }
    for (const list of found.values()) list.sort((a, b) => b.rest.length - a.rest.length);
    return found;
  }

  #names(character: string, codePoint: number, read: string): boolean {
    if (read === character) return false;
    return this.#instructions.some((each) => each.matchRune(codePoint) && !takesAll(each, read));
  }
}

/** A character that Unicode decomposes into others. */
export interface ComposedCharacter {
  readonly character: string;
  readonly base: string;
  /** Its marks, or the remaining letters of a syllable. */
  readonly rest: string;
  /** The character without marks. */
  readonly bare: string;
}

/** Whether the part after the base character of a composed character consists of letters. */
export function isLetters(rest: string): boolean {
  return /^[\u1161-\u11ff]/.test(rest);
}

function takesAll(instruction: PatternInstruction, text: string): boolean {
  return (
    text !== "" && Array.from(text).every((each) => instruction.matchRune(each.codePointAt(0) ?? 0))
  );
}

/** Whether an instruction names a character that is not read as it is written: one beyond ASCII, or a control character. */
function namesUnplain({ runes }: PatternInstruction): boolean {
  for (let at = 0; at < runes.length; at += 2) {
    const from = runes[at] ?? 0;
    const to = runes[at + 1] ?? from;
    if (to > 0x7e) return true;
    for (let each = from; each < 0x20 && each <= to; each++) {
      if (!isPlainUnit(each)) return true;
    }
  }
  return false;
}

/** Whether it matches nearly every character including ASCII, as `[^a-z]` does, and so names none in particular. */
function isOfMost(instruction: PatternInstruction): boolean {
  const takesAscii = (instruction.runes[0] ?? 0) < 0x80;
  return takesAscii && sizeOf(instruction) > MAX_OTHERS;
}

/** Returns the number of characters that it matches. */
function sizeOf({ runes }: PatternInstruction): number {
  let size = 0;
  for (let at = 0; at < runes.length; at += 2) {
    const from = runes[at] ?? 0;
    size += (runes[at + 1] ?? from) - from + 1;
  }
  return size;
}

const MAX_OTHERS = 0x80000;

/** Maximum number of cached characters: texts repeat few different ones. */
const MAX_KNOWN = 4_096;

function composedCharacters(): readonly ComposedCharacter[] {
  if (all.length === 0) {
    for (let codePoint = 0xc0; codePoint < COMPOSED_END; codePoint++) {
      const character = String.fromCodePoint(codePoint);
      const [base = "", ...others] = character.normalize("NFD");
      const rest = others.join("");
      const bare = isLetters(rest) ? base + rest : base;
      if (rest !== "") all.push({ character, base, rest, bare });
    }
  }
  return all;
}

const all: ComposedCharacter[] = [];

/** End of the searched range. Composed characters in later planes are musical symbols and letters of rare scripts. */
const COMPOSED_END = 0x12000;
