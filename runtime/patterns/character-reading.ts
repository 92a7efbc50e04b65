import { eitherCase, optionalCharacter } from "./ambiguous-character.ts";
import { BLANKS, LOOKALIKES, ONE_CASE_LOOKALIKES } from "./lookalikes.ts";

/**
 * How a character reads, as models read it: letters and digits in circles, squares and other shapes as those of ASCII, letters
 * with marks as letters, dashes and spaces as one of each, tags as the characters that they stand for. Empty for what has no
 * shape of its own: characters of no width, marks, control characters. See `ambiguous-character.ts` for those that are read
 * in several ways.
 */
export function readCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  if (codePoint >= FIRST_TAG && codePoint <= LAST_TAG) return optionalCharacter(codePoint - TAGS);
  if (isHangul(codePoint)) return character;
  const known = lookalikes.get(character);
  if (known !== undefined) return known;
  if (LINE_BREAK.test(character)) return optionalCharacter(SPACE);
  if (UNSEEN.test(character)) return "";
  if (BLANK.test(character)) return " ";
  if (DASH.test(character)) return "-";
  const parts = character.normalize("NFKD");
  if (parts !== character) return Array.from(parts, readCharacter).join("");
  return DIGIT.test(character) ? String(digitValue(character)) : character;
}

/** Whether a UTF-16 unit is an ASCII character that reads as it is written. */
export function isPlainUnit(unit: number): boolean {
  return unit < 0x20
    ? unit === 0x0a || unit === 0x0d || unit === 0x09 || unit === 0x0c
    : unit < 0x7f;
}

/** A class of the engine's expressions: ASCII characters that do not read as they are written. */
export const CONTROL_UNITS = "\\x00-\\x08\\x0b\\x0e-\\x1f\\x7f";

const lookalikes: ReadonlyMap<string, string> = new Map([
  ...entriesOf(LOOKALIKES, (reading) => reading),
  ...entriesOf(ONE_CASE_LOOKALIKES, (reading) => Array.from(reading, eitherCase).join("")),
  ...charactersOf(BLANKS).map((each) => [each, optionalCharacter(0x20)] as const),
]);

function entriesOf(
  table: Readonly<Record<string, string>>,
  readingOf: (reading: string) => string,
): readonly (readonly [string, string])[] {
  return Object.entries(table).flatMap(([reading, codes]) =>
    charactersOf(codes).map((each) => [each, readingOf(reading)] as const),
  );
}

function charactersOf(codes: string): readonly string[] {
  return codes.split(" ").map((code) => String.fromCodePoint(Number.parseInt(code, 16)));
}

/** Digits of a script stand one behind the other, beginning with zero. */
function digitValue(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (codePoint - zero) % 10;
}

/** Syllables are letters, although they are made of some. */
function isHangul(codePoint: number): boolean {
  return codePoint >= 0xac00 && codePoint <= 0xd7a3;
}

/** Tags stand for the ASCII characters whose code points they have behind this one. */
const TAGS = 0xe0000;
const FIRST_TAG = 0xe0020;
const LAST_TAG = 0xe007e;
const SPACE = 0x20;

/** What ends a line or a paragraph for some readers, and is nothing to others. */
const LINE_BREAK = /[\u000b\u0085\p{Zl}\p{Zp}]/u;

/**
 * Control, format, private and unassigned characters, halves of pairs, marks, and what is ignored where it is not known; the
 * object replacement character stands for something that is not in the text.
 */
const UNSEEN = /[[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\ufffc]--[\t\n\f\r]]/v;

const BLANK = /[\p{Zs}]/u;

const DASH = /[\p{Pd}\u2212]/u;

const DIGIT = /\p{Nd}/u;
