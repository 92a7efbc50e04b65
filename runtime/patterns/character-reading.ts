import { eitherCase, optionalCharacter } from "./ambiguous-character.ts";
import { BLANKS, LOOKALIKES, ONE_CASE_LOOKALIKES } from "./lookalikes.ts";

/**
 * Returns how models read a character: letters and digits in circles, squares and other shapes as ASCII, letters with marks
 * as bare letters, dashes and spaces as one of each, tags as the characters that they encode. Empty for characters without a
 * shape: zero-width characters, marks, control characters. See `ambiguous-character.ts` for characters that can be read in
 * several ways.
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

/** Whether a UTF-16 unit is an ASCII character that is read as it is written. */
export function isPlainUnit(unit: number): boolean {
  return unit < 0x20
    ? unit === 0x0a || unit === 0x0d || unit === 0x09 || unit === 0x0c
    : unit < 0x7f;
}

/** Range for a character class: ASCII characters that are not read as they are written. */
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

/** The digits of each script are consecutive and start with zero. */
function digitValue(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (codePoint - zero) % 10;
}

/** Hangul syllables are read as they are, although they decompose into letters. */
function isHangul(codePoint: number): boolean {
  return codePoint >= 0xac00 && codePoint <= 0xd7a3;
}

/** Offset of tags from the ASCII characters that they encode. */
const TAGS = 0xe0000;
const FIRST_TAG = 0xe0020;
const LAST_TAG = 0xe007e;
const SPACE = 0x20;

/** Line and paragraph separators for some readers, and nothing for others. */
const LINE_BREAK = /[\u000b\u0085\p{Zl}\p{Zp}]/u;

/**
 * Control, format, private-use and unassigned characters, surrogate halves, marks, and default-ignorable characters. The
 * object replacement character represents an object outside of the text.
 */
const UNSEEN = /[[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\ufffc]--[\t\n\f\r]]/v;

const BLANK = /[\p{Zs}]/u;

const DASH = /[\p{Pd}\u2212]/u;

const DIGIT = /\p{Nd}/u;
