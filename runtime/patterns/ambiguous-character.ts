// A reading has code points of the private use area for what is read in several ways. Texts have none there: as they read,
// characters of private use are nothing.

/** What a character is read as that may also be read as nothing: a tag, which models read and clients do not show. */
export function optionalCharacter(ascii: number): string {
  return String.fromCharCode(OPTIONALS + ascii);
}

/** What a letter of one case only is read as: `capital` or its small letter. */
export function eitherCase(capital: string): string {
  return String.fromCharCode(EITHERS + capital.charCodeAt(0));
}

/** Whether a code point of a reading may also be read as nothing. */
export function isOptional(codePoint: number): boolean {
  return codePoint >= OPTIONALS && codePoint < EITHERS;
}

/** Whether a code point of a reading is read in several ways. */
export function isAmbiguous(codePoint: number): boolean {
  return codePoint >= OPTIONALS && codePoint < AMBIGUOUS_END;
}

/** The characters that a code point of a reading is read as, if it is not read as nothing. */
export function meaningsOf(codePoint: number): readonly number[] {
  if (!isAmbiguous(codePoint)) return [codePoint];
  if (isOptional(codePoint)) return [codePoint - OPTIONALS];
  const capital = codePoint - EITHERS;
  return [capital, capital + SMALL_LETTERS];
}

/** What a part of a reading says, with and without what may be read as nothing; the second one only if it differs. */
export function spokenForms(reading: string): readonly string[] {
  if (!SOME_AMBIGUOUS.test(reading)) return [reading];
  const said = (text: string): string =>
    Array.from(text, (each) => String.fromCharCode(meaningsOf(each.charCodeAt(0))[0] ?? 0)).join(
      "",
    );
  const plain = reading.replaceAll(SOME_OPTIONAL, "");
  const all = reading.replaceAll(EVERY_AMBIGUOUS, said);
  return plain === reading ? [all] : [all, plain.replaceAll(EVERY_AMBIGUOUS, said)];
}

/** Counts the characters that may be read as nothing. */
export function countOptional(reading: string): number {
  return reading.match(SOME_OPTIONAL)?.length ?? 0;
}

/** Of a class of the engine's expressions: what is read in several ways. */
export const AMBIGUOUS_UNITS = "\\ue000-\\ue1ff";

/** Finds a code point that is read in several ways. */
export const SOME_AMBIGUOUS: RegExp = /[\ue000-\ue1ff]/;

const EVERY_AMBIGUOUS = /[\ue000-\ue1ff]/g;
const SOME_OPTIONAL = /[\ue000-\ue0ff]/g;
const OPTIONALS = 0xe000;
const EITHERS = 0xe100;
const AMBIGUOUS_END = 0xe200;
const SMALL_LETTERS = 0x20;
