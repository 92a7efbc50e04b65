import { readCharacter } from "./character-reading.ts";
import { type ComposedCharacter, isLetters, type NamedCharacters } from "./named-characters.ts";
import { isPlain, type Reading, ReadingBuilder, type TextReader } from "./reading.ts";

/** Reads texts for a pattern that names some characters explicitly. */
export class NamedCharacterReader implements TextReader {
  readonly #named: NamedCharacters;
  readonly #composed: ReadonlyMap<string, readonly ComposedCharacter[]>;
  readonly composes: boolean;

  constructor(named: NamedCharacters) {
    this.#named = named;
    this.#composed = named.composed;
    this.composes = named.composed.size > 0;
  }

  readingOf(written: string): Reading | undefined {
    if (isPlain(written)) return undefined;
    const made = new ReadingBuilder(written);
    const characters = Array.from(written);
    let at = 0;
    for (let index = 0; index < characters.length; ) {
      const count = this.composes ? letterLength(characters, index) : 1;
      const letter = characters.slice(index, index + count);
      const read = this.composes ? this.#composedOf(letter) : undefined;
      for (const [place, each] of letter.entries()) {
        made.read(at, each, read?.[place] ?? this.#readAlone(each));
        at += each.length;
      }
      index += count;
    }
    return made.reading();
  }

  #readAlone(character: string): string {
    return this.#named.has(character) ? character : readCharacter(character);
  }

  openFrom(written: string): number {
    if (!this.composes) return written.length;
    const end = Array.from(written.slice(-MAX_LETTER));
    let from = written.length;
    for (const each of end.toReversed()) {
      from -= each.length;
      if (isExtender(each)) continue;
      return this.#composed.has(baseOf(each)) ? from : written.length;
    }
    return written.length;
  }

  /**
   * Returns the reading of each character of a letter with its marks if they form a named character; otherwise `undefined`.
   * Marks that are not part of it are read as nothing, unless they are named themselves.
   */
  #composedOf(letter: readonly string[]): readonly string[] | undefined {
    const parts = letter.flatMap((each, place) =>
      Array.from(each.normalize("NFKD"), (part) => ({ part, place })).filter(isVisible),
    );
    const [base, ...rest] = parts;
    const letters = rest.filter(({ part }) => isLetters(part));
    const syllable = letters.map(({ part }) => part).join("");
    for (const { character, rest: own } of this.#composed.get(base?.part ?? "") ?? []) {
      const isSyllable = isLetters(own);
      if (isSyllable ? own !== syllable : syllable !== "") continue;
      const others = without(rest, own);
      if (others === undefined) continue;
      const read = letter.map((_, place) => (place === 0 ? character : ""));
      for (const { part, place } of others) {
        if (this.#named.has(part)) read[place] += part;
      }
      return read;
    }
    return undefined;
  }
}

/** A part of a character, and the index of the character. */
interface Part {
  readonly part: string;
  readonly place: number;
}

/** Removes marks that must occur in this order; `undefined` if one is missing. */
function without(parts: readonly Part[], marks: string): readonly Part[] | undefined {
  const others = [...parts];
  let at = 0;
  for (const mark of marks) {
    at = others.findIndex(({ part }, index) => index >= at && part === mark);
    if (at === -1) return undefined;
    others.splice(at, 1);
  }
  return others;
}

/** Returns how many characters from an index on form a letter with its marks. */
function letterLength(characters: readonly string[], from: number): number {
  let to = from + 1;
  while (to < characters.length && to - from < MAX_LETTER && isExtender(characters[to] ?? ""))
    to += 1;
  return to - from;
}

/** Whether a character may belong to the letter before it: a mark, a letter of a syllable, or an invisible character. */
function isExtender(character: string): boolean {
  if (character < "\u0080" && character >= " ") return false;
  return (
    /^[\p{M}\u1161-\u11ff]/u.test(character.normalize("NFKD")) || readCharacter(character) === ""
  );
}

function isVisible({ part }: Part): boolean {
  return /[\p{M}\u1161-\u11ff]/u.test(part) || readCharacter(part) !== "";
}

function baseOf(character: string): string {
  return Array.from(character.normalize("NFKD"))[0] ?? "";
}

/** Maximum number of characters in a letter with its marks; further marks are read separately. */
const MAX_LETTER = 32;
