declare global {
  interface JSON {
    /** ECMAScript's JSON.parse source text access: what stringify writes as it is. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * `JSON.parse`, but numbers that a double cannot hold are kept as they were written, so that `JSON.stringify` writes the
 * same. Throws SyntaxError.
 */
export function parseExact(text: string): unknown {
  return hasLongNumber(text) ? JSON.parse(text, keepSource) : JSON.parse(text);
}

/** Whether a text may have a number that a double cannot hold; false: `JSON.parse` reads it exactly. */
export function hasLongNumber(text: string): boolean {
  // A run of so many numerals covers one of these places, wherever it begins: most of a text need not be looked at.
  for (let at = LONGEST - 1; at < text.length; at += LONGEST) {
    if (isNumeral(text, at) && lengthOfRun(text, at) >= LONGEST) return true;
  }
  return false;
}

/** How long the run of digits and points around a place is, as far as it matters. */
function lengthOfRun(text: string, at: number): number {
  let start = at;
  let end = at + 1;
  while (at - start < LONGEST && isNumeral(text, start - 1)) start -= 1;
  while (end - start < LONGEST && isNumeral(text, end)) end += 1;
  return end - start;
}

function isNumeral(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/** How a number was written that a double cannot hold; undefined for any other value of `parseExact`. */
export function longNumberText(value: unknown): string | undefined {
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Digits of a number that may be inexact: up to 15 are always exact. */
const LONGEST = 16;

function keepSource(
  _key: string,
  value: unknown,
  { source }: { readonly source?: string },
): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return String(value) === source ? value : JSON.rawJSON(source);
}
