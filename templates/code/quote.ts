import { isIdentifier } from "./names.ts";

/** A string as a literal, in the quotes that need fewer escapes. */
export function stringLiteral(text: string): string {
  return quoted(text, /[\u007f-\u009f\u2028\u2029]/g);
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
  const json = JSON.stringify(text).replace(escaped, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  const [doubles, singles] = [text.split('"').length, text.split("'").length];
  if (doubles <= singles) return json;
  const content = json.slice(1, -1).replace(/\\"|'/g, (found) => (found === "'" ? "\\'" : '"'));
  return `'${content}'`;
}
