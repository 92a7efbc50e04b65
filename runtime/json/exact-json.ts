declare global {
  interface JSON {
    /** ECMAScript's JSON.parse source text access: a value whose string `JSON.stringify` writes verbatim. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/**
 * Parses JSON, but preserves numbers that a double cannot hold, so that `JSON.stringify` writes them unchanged. Throws
 * SyntaxError.
 */
export function parseExact(text: string): unknown {
  return hasLongNumber(text) ? JSON.parse(text, keepSource) : JSON.parse(text);
}

/** Whether JSON may contain a number that a double cannot hold. If not, `JSON.parse` is exact. */
export function hasLongNumber(text: string): boolean {
  // A run of LONG_DIGITS numerals covers one of these positions wherever it starts, so most characters need no check.
  for (let at = LONG_DIGITS - 1; at < text.length; at += LONG_DIGITS) {
    if (isNumeral(text, at) && lengthOfRun(text, at) >= LONG_DIGITS) return true;
  }
  return false;
}

/** Returns the length of the run of digits and points around a position, up to LONG_DIGITS on each side. */
function lengthOfRun(text: string, at: number): number {
  let start = at;
  let end = at + 1;
  while (at - start < LONG_DIGITS && isNumeral(text, start - 1)) start -= 1;
  while (end - start < LONG_DIGITS && isNumeral(text, end)) end += 1;
  return end - start;
}

function isNumeral(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/** Returns the digits of a number that a double cannot hold; `undefined` for any other value of `parseExact`. */
export function longNumberText(value: unknown): string | undefined {
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Number of digits from which a number may be inexact: up to 15 are always exact. */
const LONG_DIGITS = 16;

function keepSource(
  _key: string,
  value: unknown,
  { source }: { readonly source?: string },
): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return String(value) === source ? value : JSON.rawJSON(source);
}
