// A reading has code points of the private use area for what is read in several ways. Texts have none there: as they read,
// characters of private use are nothing.

/** What a character is read as that may also be read as nothing: a tag, which models read and clients do not show. */
export function optionalCharacter(ascii: number): string {
  return String.fromCharCode(optionals + ascii);
}

/** What a letter of one case only is read as: `capital` or its small letter. */
export function eitherCase(capital: string): string {
  return String.fromCharCode(eithers + capital.charCodeAt(0));
}

/** Whether a code point of a reading may also be read as nothing. */
export function isOptional(codePoint: number): boolean {
  return codePoint >= optionals && codePoint < eithers;
}

/** Whether a code point of a reading is read in several ways. */
export function isAmbiguous(codePoint: number): boolean {
  return codePoint >= optionals && codePoint < ambiguousEnd;
}

/** The characters that a code point of a reading is read as, if it is not read as nothing. */
export function meaningsOf(codePoint: number): readonly number[] {
  if (!isAmbiguous(codePoint)) return [codePoint];
  if (isOptional(codePoint)) return [codePoint - optionals];
  const capital = codePoint - eithers;
  return [capital, capital + smallLetters];
}

/** What a part of a reading says, with and without what may be read as nothing; the second one only if it differs. */
export function spokenForms(reading: string): readonly string[] {
  if (!someAmbiguous.test(reading)) return [reading];
  const said = (text: string): string =>
    Array.from(text, (each) => String.fromCharCode(meaningsOf(each.charCodeAt(0))[0] ?? 0)).join(
      "",
    );
  const plain = reading.replaceAll(someOptional, "");
  const all = reading.replaceAll(everyAmbiguous, said);
  return plain === reading ? [all] : [all, plain.replaceAll(everyAmbiguous, said)];
}

/** Counts the characters that may be read as nothing. */
export function countOptional(reading: string): number {
  return reading.match(someOptional)?.length ?? 0;
}

/** Of a class of the engine's expressions: what is read in several ways. */
export const ambiguousUnits = "\\ue000-\\ue1ff";

/** Finds a code point that is read in several ways. */
export const someAmbiguous: RegExp = /[\ue000-\ue1ff]/;

const everyAmbiguous = /[\ue000-\ue1ff]/g;
const someOptional = /[\ue000-\ue0ff]/g;
const optionals = 0xe000;
const eithers = 0xe100;
const ambiguousEnd = 0xe200;
const smallLetters = 0x20;
