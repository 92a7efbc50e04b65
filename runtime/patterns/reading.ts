import { countOptional, isOptional, SOME_AMBIGUOUS } from "./ambiguous-character.ts";
import { isPlainUnit, readCharacter } from "./character-reading.ts";

/** Reading of a text, where it differs from how the text is written. */
export interface Reading {
  readonly text: string;
  /** Place in the written text where each unit of the reading starts. */
  readonly starts: readonly number[];
  /** Whether some characters can be read in several ways: see `ambiguous-character.ts`. */
  readonly isAmbiguous: boolean;
}

/** Reads texts for a pattern. */
export interface TextReader {
  /** Returns the reading of a text; `undefined` if it is read as it is written. Linear in its length. */
  readingOf(written: string): Reading | undefined;
  /** Returns the place from which the reading may change when more text follows; the length of the text if it cannot. */
  openFrom(written: string): number;
  /** Whether letters are read together with the marks after them, so that the end of each piece may wait for a mark. */
  readonly composes: boolean;
}

/** Reads each character by itself: see `readCharacter`. */
export const characterReader: TextReader = {
  readingOf: (written) => {
    if (isPlain(written)) return undefined;
    const made = new ReadingBuilder(written);
    for (let at = 0; at < written.length; at++) {
      const unit = written.charCodeAt(at);
      const sole = soleUnit(unit);
      if (sole === unit && unit !== SEVERAL) continue;
      const character = String.fromCodePoint(written.codePointAt(at) ?? unit);
      made.read(at, character, sole === SEVERAL ? readCharacter(character) : unitText(sole));
      at += character.length - 1;
    }
    return made.reading();
  },
  openFrom: ({ length }) => length,
  composes: false,
};

/** Builds the reading of a text from the characters that are not read as they are written. */
export class ReadingBuilder {
  readonly #written: string;
  readonly #starts: number[] = [];
  #text = "";
  /** Place up to which it has been read. */
  #from = 0;

  constructor(written: string) {
    this.#written = written;
  }

  /** Adds a character with another reading. Places must be in order. */
  read(at: number, written: string, read: string): void {
    if (read === written) return;
    this.#text += this.#written.slice(this.#from, at) + read;
    for (let each = this.#from; each < at; each++) this.#starts.push(each);
    for (let each = 0; each < read.length; each++) this.#starts.push(at);
    this.#from = at + written.length;
  }

  /** Returns `undefined` if the text is read as it is written. */
  reading(): Reading | undefined {
    if (this.#from === 0) return undefined;
    for (let each = this.#from; each < this.#written.length; each++) this.#starts.push(each);
    const text = this.#text + this.#written.slice(this.#from);
    const reading = { text, starts: this.#starts, isAmbiguous: SOME_AMBIGUOUS.test(text) };
    const isDense = reading.isAmbiguous && countOptional(text) > MAX_OPTIONAL;
    return isDense ? withoutOptional(reading) : reading;
  }
}

/** Maximum number of optional characters; beyond it, all are read as nothing. Texts that pass guards have fewer. */
const MAX_OPTIONAL = 1_024;

/** Returns the reading without its optional characters. */
export function withoutOptional({ text, starts }: Reading): Reading {
  const units = starts.flatMap((_, unit) => (isOptional(text.charCodeAt(unit)) ? [] : [unit]));
  const read = units.map((unit) => text.charAt(unit)).join("");
  const own = units.map((unit) => starts[unit] ?? 0);
  return { text: read, starts: own, isAmbiguous: SOME_AMBIGUOUS.test(read) };
}

/** Whether a text is ASCII without control characters, and so is read as it is written. */
export function isPlain(text: string): boolean {
  const { length } = text;
  if (length > SHORT_LENGTH) {
    // One range at a time, because engines search for single ranges with vector instructions.
    const isAscii = Buffer.byteLength(text) === length;
    return isAscii && !LOW_CONTROL.test(text) && !HIGH_CONTROL.test(text) && !rareControl(text);
  }
  for (let at = 0; at < length; at++) {
    if (!isPlainUnit(text.charCodeAt(at))) return false;
  }
  return true;
}

function rareControl(text: string): boolean {
  return text.includes("\u000b") || text.includes("\u007f");
}

const LOW_CONTROL = /[\u0000-\u0008]/;
const HIGH_CONTROL = /[\u000e-\u001f]/;

/** Maximum length for which a loop is faster than the calls. */
const SHORT_LENGTH = 64;

/** Returns the one unit that a unit is read as; SEVERAL if it is read as none or several. */
function soleUnit(unit: number): number {
  const known = SOLE_UNITS[unit] ?? 0;
  if (known !== 0) return known;
  const read = isHighHalf(unit) ? "" : readCharacter(String.fromCharCode(unit));
  const sole = read.length === 1 ? read.charCodeAt(0) : SEVERAL;
  SOLE_UNITS[unit] = sole;
  return sole;
}

function unitText(unit: number): string {
  return String.fromCharCode(unit);
}

/** Whether a unit is the first half of a surrogate pair. */
export function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A surrogate half, which nothing is read as. */
const SEVERAL = 0xd800;

/** By unit: the unit that it is read as; 0 if not computed yet. Texts repeat few different units. */
const SOLE_UNITS = new Uint16Array(0x10000);
