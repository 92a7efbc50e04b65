/** How a text reads, where that differs from how it is written. */
export interface Reading {
  readonly text: string;
  /** Where in the written text each unit of the reading begins. */
  readonly starts: readonly number[];
}

/**
 * How a text reads: without characters that nobody sees (zero width, soft hyphens, variation selectors, marks on letters),
 * with those that look like others as these (fullwidth, mathematical and circled letters, digits of any script, dashes,
 * spaces). Undefined: as it is written. Linear in its length.
 */
export function readingOf(written: string): Reading | undefined {
  if (isAscii(written)) return undefined;
  let text = "";
  const starts: number[] = [];
  let from = 0;
  for (let at = 0; at < written.length; at++) {
    const unit = written.charCodeAt(at);
    const sole = unit < 128 ? unit : soleUnit(unit);
    if (sole === unit) continue;
    const character = String.fromCodePoint(written.codePointAt(at) ?? unit);
    const read = sole === several ? readCharacter(character) : String.fromCharCode(sole);
    if (read !== character) {
      text += written.slice(from, at) + read;
      for (let each = from; each < at; each++) starts.push(each);
      for (let each = 0; each < read.length; each++) starts.push(at);
      from = at + character.length;
    }
    at += character.length - 1;
  }
  if (from === 0) return undefined;
  for (let each = from; each < written.length; each++) starts.push(each);
  return { text: text + written.slice(from), starts };
}

/** Whether a text has ASCII characters alone: it reads as it is written. */
export function isAscii(text: string): boolean {
  const { length } = text;
  if (length > shortLength) return Buffer.byteLength(text) === length;
  for (let at = 0; at < length; at++) {
    if (text.charCodeAt(at) > 127) return false;
  }
  return true;
}

/** Up to this length the call costs more than looking. */
const shortLength = 64;

/** How a character reads; "": nobody sees it. */
export function readCharacter(character: string): string {
  if (!lookalike.test(character)) return character;
  if (unseen.test(character)) return "";
  if (dash.test(character)) return "-";
  const compatible = character.normalize("NFKC");
  if (compatible !== character || !digit.test(character)) return compatible;
  return String(digitValue(character));
}

/** Digits of a script stand one behind the other, beginning with zero. */
function digitValue(character: string): number {
  const codePoint = character.codePointAt(0) ?? 0;
  let zero = codePoint;
  while (digit.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (codePoint - zero) % 10;
}

/** The one unit that a unit reads as; `several`: it is none, or not one. */
function soleUnit(unit: number): number {
  const known = soleUnits[unit] ?? 0;
  if (known !== 0) return known;
  const read = isHighHalf(unit) ? "" : readCharacter(String.fromCharCode(unit));
  const sole = read.length === 1 ? read.charCodeAt(0) : several;
  soleUnits[unit] = sole;
  return sole;
}

/** Whether a unit is the first half of a character. */
export function isHighHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** No text reads as this one. */
const several = 1;

/** By unit what it reads as; 0: nobody has asked. Texts ask for few, often. */
const soleUnits = new Uint16Array(0x10000);

/** What may read as something else: capital letters are among them, which do not. */
const lookalike =
  /[[\p{Changes_When_NFKC_Casefolded}\p{Nd}\p{Pd}\u0300-\u036f\u20d0-\u20ff\u2212]--[\x00-\x7f]]/v;

/** Marks that change how a letter looks but not what it says: strokes, key caps. */
const unseen = /\p{Default_Ignorable_Code_Point}|[\u0300-\u036f]|[\u20d0-\u20ff]/u;

const dash = /[\p{Pd}\u2212]/u;

const digit = /\p{Nd}/u;
