import { type AskedCharacters, type ComposedCharacter, isLetters } from "./asked-characters.ts";
import { readCharacter } from "./character-reading.ts";
import { isPlain, type Reading, ReadingBuilder, type TextReader } from "./reading.ts";

/** Reads texts for a pattern that asks for some characters by themselves. */
export class AskedReader implements TextReader {
  readonly #asked: AskedCharacters;
  readonly #composed: ReadonlyMap<string, readonly ComposedCharacter[]>;
  readonly composes: boolean;

  constructor(asked: AskedCharacters) {
    this.#asked = asked;
    this.#composed = asked.composed;
    this.composes = asked.composed.size > 0;
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
    return this.#asked.has(character) ? character : readCharacter(character);
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
   * What the characters of a letter with its marks read as, where they are one that is asked for; undefined: they are not.
   * Marks that this one does not have are nothing, unless they are asked for themselves.
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
        if (this.#asked.has(part)) read[place] += part;
      }
      return read;
    }
    return undefined;
  }
}

/** A part of a character, and the place of the character. */
interface Part {
  readonly part: string;
  readonly place: number;
}

/** What is left of marks without some of them; undefined: not all of these are among them, in their order. */
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

/** How many characters from a place on are a letter and what belongs to it. */
function letterLength(characters: readonly string[], from: number): number {
  let to = from + 1;
  while (to < characters.length && to - from < MAX_LETTER && isExtender(characters[to] ?? ""))
    to += 1;
  return to - from;
}

/** Whether a character may belong to the letter before it: a mark, a letter of a syllable, or what nobody sees. */
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

/** A letter has no more marks than that: what comes behind them is read by itself. */
const MAX_LETTER = 32;
