import { createHash } from "node:crypto";

/**
 * A name of 64 letters, digits, `_` and `-` at most that begins with a letter or `_`: every provider takes it. The same
 * text has the same one in every request.
 */
export function shortName(text: string): string {
  const words = text.replace(/[^a-zA-Z0-9_-]/g, "_");
  const start = /^[a-zA-Z_]/.test(words) ? words : `_${words}`;
  return `${start.slice(0, 63 - DIGITS)}_${createHash("sha256").update(text).digest("hex").slice(0, DIGITS)}`;
}

/** Whether a name may be one of those. */
export function isShortName(name: string): boolean {
  return ENDING.test(name);
}

/** Of the digest at its end. */
const DIGITS = 20;
const ENDING = new RegExp(`_[0-9a-f]{${DIGITS}}$`);
