import { isPlainUnit, readCharacter } from "./character-reading.ts";
import { ONE_RUNE, RUNE } from "./pattern-codes.ts";
import type { PatternInstruction } from "./pattern-program.ts";

/**
 * The characters that a pattern asks for by themselves, and not for what they read as: `é`, `–`, `[\x{200b}-\x{200f}]`. It
 * sees them as they are written, and all others as they read.
 */
export class AskedCharacters {
  /** Instructions that may ask for such a character. */
  readonly #instructions: readonly PatternInstruction[];
  readonly #known = new Map<number, boolean>();
  #composed: ReadonlyMap<string, readonly ComposedCharacter[]> | undefined;

  private constructor(instructions: readonly PatternInstruction[]) {
    this.#instructions = instructions;
  }

  /** Undefined: a pattern asks for none. */
  static of(instructions: readonly PatternInstruction[]): AskedCharacters | undefined {
    const asking = instructions.filter(
      (each) => (each.op === RUNE || each.op === ONE_RUNE) && namesOthers(each) && !isOfMost(each),
    );
    return asking.length === 0 ? undefined : new AskedCharacters(asking);
  }

  /** Whether a character is asked for. */
  has(character: string): boolean {
    const codePoint = character.codePointAt(0) ?? 0;
    const known = this.#known.get(codePoint);
    if (known !== undefined) return known;
    const has = this.#asks(character, codePoint, readCharacter(character));
    if (this.#known.size < MAX_KNOWN) this.#known.set(codePoint, has);
    return has;
  }

  /** Those that are a letter with marks, or a syllable, by the letter: the ones with most marks come first. */
  get composed(): ReadonlyMap<string, readonly ComposedCharacter[]> {
    this.#composed ??= this.#findComposed();
    return this.#composed;
  }

  #findComposed(): ReadonlyMap<string, readonly ComposedCharacter[]> {
    const found = new Map<string, ComposedCharacter[]>();
    // What takes nearly all beyond ASCII takes letters and marks as well.
    if (this.#instructions.some((each) => sizeOf(each) > MAX_OTHERS)) return found;
    for (const composed of composedCharacters()) {
      const { character, base, bare } = composed;
      const codePoint = character.codePointAt(0) ?? 0;
      const isAsked = this.#asks(character, codePoint, bare);
      if (isAsked) found.set(base, [...(found.get(base) ?? []), composed]);
    }
    for (const list of found.values()) list.sort((a, b) => b.rest.length - a.rest.length);
    return found;
  }

  #asks(character: string, codePoint: number, read: string): boolean {
    if (read === character) return false;
    return this.#instructions.some((each) => each.matchRune(codePoint) && !takesAll(each, read));
  }
}

/** A character that Unicode makes of others. */
export interface ComposedCharacter {
  readonly character: string;
  readonly base: string;
  /** Its marks; of a syllable its other letters. */
  readonly rest: string;
  /** Without marks. */
  readonly bare: string;
}

/** Whether what stands behind the first character of a composed one are letters. */
export function isLetters(rest: string): boolean {
  return /^[\u1161-\u11ff]/.test(rest);
}

function takesAll(instruction: PatternInstruction, text: string): boolean {
  return (
    text !== "" && Array.from(text).every((each) => instruction.matchRune(each.codePointAt(0) ?? 0))
  );
}

/** Whether an instruction names a character that reads otherwise: one beyond ASCII, or a control character. */
function namesOthers({ runes }: PatternInstruction): boolean {
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

/** Whether it takes nearly all there is and ASCII characters with it, as `[^a-z]` does: none of them is meant. */
function isOfMost(instruction: PatternInstruction): boolean {
  const takesAscii = (instruction.runes[0] ?? 0) < 0x80;
  return takesAscii && sizeOf(instruction) > MAX_OTHERS;
}

/** How many characters it takes. */
function sizeOf({ runes }: PatternInstruction): number {
  let size = 0;
  for (let at = 0; at < runes.length; at += 2) {
    const from = runes[at] ?? 0;
    size += (runes[at + 1] ?? from) - from + 1;
  }
  return size;
}

const MAX_OTHERS = 0x80000;

/** Texts have few characters, which come often. */
const MAX_KNOWN = 4_096;

function composedCharacters(): readonly ComposedCharacter[] {
  if (all.length === 0) {
    for (let codePoint = 0xc0; codePoint < LAST_COMPOSED; codePoint++) {
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

/** Letters of later planes with marks are those of music, and of few scripts. */
const LAST_COMPOSED = 0x12000;
