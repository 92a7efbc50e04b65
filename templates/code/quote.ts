import { isIdentifier } from "./names.ts";

/**
 * Characters that are invisible or reorder visible ones, so that code reads differently than it runs (Trojan Source):
 * controls above ASCII, format and tag characters, line separators, fillers, variation selectors, lone surrogates.
 */
const HIDDEN =
  /[\u{7f}-\u{9f}\u{ad}\u{61c}\u{115f}\u{1160}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{2800}\u{3164}\u{d800}-\u{dfff}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0000}-\u{e0fff}]/gu;

/** Escapes each hidden character in the syntax of JavaScript and JSON: `\u202e`. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, unicodeEscape);
}

/** Writes a string literal, in the quotes that need fewer escapes. */
export function stringLiteral(text: string): string {
  return withoutHidden(quoted(text, /[\u007f-\u009f]/g));
}

/** Writes the same in ASCII. */
export function asciiLiteral(text: string): string {
  return quoted(text, /[\u007f-\uffff]/g);
}

/**
 * Writes a property name, quoted unless it is an identifier. `__proto__` would set the prototype, so it is computed.
 */
export function propertyName(key: string, quoteKey = stringLiteral): string {
  if (key === "__proto__") return '["__proto__"]';
  return isIdentifier(key) ? key : quoteKey(key);
}

function unicodeEscape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

function quoted(text: string, escaped: RegExp): string {
  const json = JSON.stringify(text).replace(escaped, unicodeEscape);
  if (!text.includes('"')) return json;
  const [doubles, singles] = [text.split('"').length, text.split("'").length];
  if (doubles <= singles) return json;
  const content = json.slice(1, -1).replace(/\\"|'/g, (found) => (found === "'" ? "\\'" : '"'));
  return `'${content}'`;
}
