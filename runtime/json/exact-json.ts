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
  return longNumber.test(text);
}

/** How a number was written that a double cannot hold; undefined for any other value of `parseExact`. */
export function longNumberText(value: unknown): string | undefined {
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Up to 15 digits are always exact. */
const longNumber = /[\d.]{16}/;

function keepSource(
  _key: string,
  value: unknown,
  { source }: { readonly source?: string },
): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return String(value) === source ? value : JSON.rawJSON(source);
}
