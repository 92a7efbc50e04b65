import { isIdentifier } from "./names.ts";

/** Characters that turn the direction of text around, so that code reads otherwise than it runs (Trojan Source). */
export const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A character as JavaScript escapes it. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A string as a literal, in the quotes that need fewer escapes. */
export function stringLiteral(text: string): string {
  return quoted(text, /[\u007f-\u009f\u2028\u2029]/g).replace(BIDIRECTIONAL, unicodeEscape);
}

/** The same in ASCII. */
export function asciiLiteral(text: string): string {
  return quoted(text, /[\u007f-\uffff]/g);
}

/** A property name, quoted unless it is an identifier; `__proto__` would set a prototype, so it is computed. */
export function propertyName(key: string, quoteKey = stringLiteral): string {
  if (key === "__proto__") return '["__proto__"]';
  return isIdentifier(key) ? key : quoteKey(key);
}

function quoted(text: string, escaped: RegExp): string {
  const json = JSON.stringify(text).replace(escaped, unicodeEscape);
  if (!text.includes('"')) return json;
  const [doubles, singles] = [text.split('"').length, text.split("'").length];
  if (doubles <= singles) return json;
  const content = json.slice(1, -1).replace(/\\"|'/g, (found) => (found === "'" ? "\\'" : '"'));
  return `'${content}'`;
}
