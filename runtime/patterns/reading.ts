import { countOptional, isOptional, SOME_AMBIGUOUS } from "./ambiguous-character.ts";
import { isPlainUnit, readCharacter } from "./character-reading.ts";

/** How a text reads, where that differs from how it is written. */
export interface Reading {
  readonly text: string;
  /** Where in the written text each unit of the reading begins. */
  readonly starts: readonly number[];
  /** Some of its characters are read in several ways: see `ambiguous-character.ts`. */
  readonly isAmbiguous: boolean;
}

/** Reads texts as a pattern is to see them. */
export interface TextReader {
  /** How a text reads; undefined: as it is written. Linear in its length. */
  readingOf(written: string): Reading | undefined;
  /** From where on a text may read otherwise when more comes behind it; its length: nowhere. */
  openFrom(written: string): number;
  /** Letters and the marks behind them are read as one: the end of each piece may wait for a mark. */
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

/** Puts the reading of a text together, from its characters that read otherwise. */
export class ReadingBuilder {
  readonly #written: string;
  readonly #starts: number[] = [];
  #text = "";
  /** Up to where it has been read. */
  #from = 0;

  constructor(written: string) {
    this.#written = written;
  }

  /** What stands at a place reads as another text. Places come in order. */
  read(at: number, written: string, read: string): void {
    if (read === written) return;
    this.#text += this.#written.slice(this.#from, at) + read;
    for (let each = this.#from; each < at; each++) this.#starts.push(each);
    for (let each = 0; each < read.length; each++) this.#starts.push(at);
    this.#from = at + written.length;
  }

  /** Undefined: nothing reads otherwise. */
  reading(): Reading | undefined {
    if (this.#from === 0) return undefined;
    for (let each = this.#from; each < this.#written.length; each++) this.#starts.push(each);
    const text = this.#text + this.#written.slice(this.#from);
    const reading = { text, starts: this.#starts, isAmbiguous: SOME_AMBIGUOUS.test(text) };
    const isDense = reading.isAmbiguous && countOptional(text) > MAX_OPTIONAL;
    return isDense ? withoutOptional(reading) : reading;
  }
}

/** Where more characters may be nothing they are nothing: what passes guards has fewer of them. */
const MAX_OPTIONAL = 1_024;

/** The same reading without what may be nothing. */
export function withoutOptional({ text, starts }: Reading): Reading {
  const kept = starts.flatMap((_, unit) => (isOptional(text.charCodeAt(unit)) ? [] : [unit]));
  const read = kept.map((unit) => text.charAt(unit)).join("");
  const own = kept.map((unit) => starts[unit] ?? 0);
  return { text: read, starts: own, isAmbiguous: SOME_AMBIGUOUS.test(read) };
}

/** Whether a text has ASCII characters alone, without control characters: it reads as it is written. */
export function isPlain(text: string): boolean {
  const { length } = text;
  if (length > SHORT_LENGTH) {
    // One range at a time: engines look for that many characters at once.
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

/** Up to this length the call costs more than looking. */
const SHORT_LENGTH = 64;

/** The one unit that a unit reads as; `several`: it is none, or not one. */
function soleUnit(unit: number): number {
  const known = soleUnits[unit] ?? 0;
  if (known !== 0) return known;
  const read = isHighHalf(unit) ? "" : readCharacter(String.fromCharCode(unit));
  const sole = read.length === 1 ? read.charCodeAt(0) : SEVERAL;
  soleUnits[unit] = sole;
  return sole;
}

function unitText(unit: number): string {
  return String.fromCharCode(unit);
}

/** Whether a unit is the first half of a character. */
export function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Half of a character: nothing reads as that. */
const SEVERAL = 0xd800;

/** By unit what it reads as; 0: nobody has asked. Texts ask for few, often. */
const soleUnits = new Uint16Array(0x10000);
