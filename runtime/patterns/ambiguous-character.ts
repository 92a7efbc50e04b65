// Readings use private-use code points for characters that can be read in several ways. These never occur otherwise:
// private-use characters of a text are read as nothing.

/** Returns the reading of a character that may also be read as nothing: a tag, which models read and clients do not show. */
export function optionalCharacter(ascii: number): string {
  return String.fromCharCode(OPTIONALS + ascii);
}

/** Returns the reading of a letter that has only one case: `capital` or its small letter. */
export function eitherCase(capital: string): string {
  return String.fromCharCode(EITHERS + capital.charCodeAt(0));
}

/** Whether a code point of a reading may also be read as nothing. */
export function isOptional(codePoint: number): boolean {
  return codePoint >= OPTIONALS && codePoint < EITHERS;
}

/** Whether a code point of a reading can be read in several ways. */
export function isAmbiguous(codePoint: number): boolean {
  return codePoint >= OPTIONALS && codePoint < AMBIGUOUS_END;
}

/** Returns the characters that a code point of a reading may stand for, apart from nothing. */
export function meaningsOf(codePoint: number): readonly number[] {
  if (!isAmbiguous(codePoint)) return [codePoint];
  if (isOptional(codePoint)) return [codePoint - OPTIONALS];
  const capital = codePoint - EITHERS;
  return [capital, capital + SMALL_LETTERS];
}

/** Returns a part of a reading with and without its optional characters; one form if both are equal. */
export function possibleForms(reading: string): readonly string[] {
  if (!SOME_AMBIGUOUS.test(reading)) return [reading];
  const plainOf = (text: string): string =>
    Array.from(text, (each) => String.fromCharCode(meaningsOf(each.charCodeAt(0))[0] ?? 0)).join(
      "",
    );
  const plain = reading.replaceAll(SOME_OPTIONAL, "");
  const all = reading.replaceAll(EVERY_AMBIGUOUS, plainOf);
  return plain === reading ? [all] : [all, plain.replaceAll(EVERY_AMBIGUOUS, plainOf)];
}

/** Counts the characters that may be read as nothing. */
export function countOptional(reading: string): number {
  return reading.match(SOME_OPTIONAL)?.length ?? 0;
}

/** Range for a character class: characters that can be read in several ways. */
export const AMBIGUOUS_UNITS = "\\ue000-\\ue1ff";

/** Matches a code point that can be read in several ways. */
export const SOME_AMBIGUOUS: RegExp = /[\ue000-\ue1ff]/;

const EVERY_AMBIGUOUS = /[\ue000-\ue1ff]/g;
const SOME_OPTIONAL = /[\ue000-\ue0ff]/g;
const OPTIONALS = 0xe000;
const EITHERS = 0xe100;
const AMBIGUOUS_END = 0xe200;
const SMALL_LETTERS = 0x20;
