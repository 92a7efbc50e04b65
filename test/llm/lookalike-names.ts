import { unicodeName } from "unicode-name";

/** Characters that look like others without a decomposition in Unicode, by what they look like. */
export interface Lookalikes {
  /** Letters and numbers. */
  readonly sole: ReadonlyMap<string, readonly string[]>;
  /** Letters, and words, that have one case only: those in capitals are read in either case. */
  readonly eitherCase: ReadonlyMap<string, readonly string[]>;
}

/** Derives what characters read as from their names in the Unicode Character Database. */
export function lookalikesOfNames(): Lookalikes {
  const sole = new Map<string, string[]>();
  const eitherCase = new Map<string, string[]>();
  for (let codePoint = 0x80; codePoint < 0x20000; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (/\p{Lo}|\p{Cs}|\p{Co}/u.test(character) && !/\p{sc=Latn}/u.test(character)) continue;
    const name = unicodeName(character);
    if (name === undefined) continue;
    const found = either(name) ?? plain(name);
    if (found === undefined) continue;
    const isEither = either(name) !== undefined;
    if (!isEither && withoutMarks(character) === found) continue;
    const map = isEither ? eitherCase : sole;
    map.set(found, [...(map.get(found) ?? []), character]);
  }
  return { sole: sorted(sole), eitherCase: sorted(eitherCase) };
}

function withoutMarks(character: string): string {
  return character.normalize("NFKD").replaceAll(/\p{M}/gu, "");
}

function sorted(map: ReadonlyMap<string, string[]>): ReadonlyMap<string, readonly string[]> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** In capitals what a character of one case reads as. */
function either(name: string): string | undefined {
  for (const shape of oneCase) {
    const [, letters] = shape.exec(name) ?? [];
    if (letters !== undefined) return letters;
  }
  return undefined;
}

const oneCase = [
  /^REGIONAL INDICATOR SYMBOL LETTER ([A-Z])$/,
  /^(?:CROSSED )?(?:NEGATIVE )?SQUARED LATIN CAPITAL LETTER ([A-Z])$/,
  /^NEGATIVE CIRCLED LATIN CAPITAL LETTER ([A-Z])$/,
  /^LATIN (?:LETTER SMALL CAPITAL|SMALL CAPITAL LETTER) ([A-Z])(?: WITH .+)?$/,
  // Pictures of words: OK, COOL, SOS. Squared symbols of mathematics are longer, or not letters.
  /^(?:NEGATIVE )?SQUARED (AB|CL|COOL|FREE|IC|ID|NEW|NG|OK|PA|SA|SOS|VS|WC)$/,
];

function plain(name: string): string | undefined {
  const [, latinCase, letter] =
    /^(?:LATIN|MODIFIER LETTER|LATIN SUBSCRIPT) (SMALL|CAPITAL) (?:LETTER )?(?:(?:SMALL|BARRED|DOTLESS|SCRIPT|BLACKLETTER|INSULAR|ANGLICANA|VISIGOTHIC|AFRICAN|LONG|STIRRUP|LENIS|BROKEN) )?([A-Z])(?: BAR)?(?: WITH .+)?$/.exec(
      name,
    ) ?? [];
  if (letter !== undefined) return latinCase === "SMALL" ? letter.toLowerCase() : letter;
  const [, vowelCase, vowels] =
    /^LATIN (SMALL|CAPITAL) (?:LETTER|LIGATURE) (A[AEOUVY]|O[EO])$/.exec(name) ?? [];
  if (vowels !== undefined) return vowelCase === "SMALL" ? vowels.toLowerCase() : vowels;
  if (/^LATIN (?:SMALL|CAPITAL) LETTER SHARP S$/.test(name)) {
    return name.includes("SMALL") ? "ss" : "SS";
  }
  const [, parenthesized] =
    /^(?:PARENTHESIZED|TORTOISE SHELL BRACKETED) LATIN (?:SMALL|CAPITAL) LETTER ([A-Z])$/.exec(
      name,
    ) ?? [];
  if (parenthesized !== undefined) {
    return name.includes("SMALL") ? parenthesized.toLowerCase() : parenthesized;
  }
  const [, number] =
    /^(?:DINGBAT )?(?:NEGATIVE |DOUBLE )?(?:CIRCLED|PARENTHESIZED) (?:SANS-SERIF )?(?:DIGIT|NUMBER) ([A-Z -]+?)(?: ON BLACK SQUARE)?$/.exec(
      name,
    ) ?? [];
  if (number !== undefined) return numberOf(number);
  const [, stopped] = /^(?:DIGIT|NUMBER) ([A-Z -]+?) (?:FULL STOP|COMMA)$/.exec(name) ?? [];
  return stopped === undefined ? undefined : numberOf(stopped);
}

function numberOf(words: string): string | undefined {
  const values = words.split(/[ -]/).map((word) => {
    const ones = units.indexOf(word);
    return ones >= 0 ? ones : tens.indexOf(word) * 10;
  });
  if (values.some((value) => value < 0)) return undefined;
  return String(values.reduce((sum, value) => sum + value, 0));
}

const units = [
  ...["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN"],
  ...["ELEVEN", "TWELVE", "THIRTEEN", "FOURTEEN", "FIFTEEN", "SIXTEEN", "SEVENTEEN", "EIGHTEEN"],
  "NINETEEN",
];
const tens = ["", "", "TWENTY", "THIRTY", "FORTY", "FIFTY", "SIXTY", "SEVENTY", "EIGHTY"];

/** Characters that have no shape of their own, by their names: they are read as a space, or as nothing. */
export function blanksOfNames(): readonly string[] {
  const blanks: string[] = [];
  for (let codePoint = 0x80; codePoint < 0x20000; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (/\p{M}|\p{Co}|\p{Cs}/u.test(character)) continue;
    if (/ (?:BLANK|FILLER|NULL NOTEHEAD)$/.test(unicodeName(character) ?? "")) {
      blanks.push(character);
    }
  }
  return blanks;
}
