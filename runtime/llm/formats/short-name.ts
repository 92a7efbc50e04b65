import { createHash } from "node:crypto";

/**
 * Returns a name of at most 64 letters, digits, `_` and `-` that starts with a letter or `_`, which every provider accepts.
 * The same string has the same name in every request.
 */
export function shortName(text: string): string {
  const words = text.replace(/[^a-zA-Z0-9_-]/g, "_");
  const start = /^[a-zA-Z_]/.test(words) ? words : `_${words}`;
  return `${start.slice(0, 63 - DIGITS)}_${createHash("sha256").update(text).digest("hex").slice(0, DIGITS)}`;
}

/** Returns an id of a call, or a short one for an id that is longer than a provider accepts. Equal ids are changed in the same way. */
export function shortId(id: string, maxLength: number): string {
  if (id.length <= maxLength) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, DIGITS)}`;
}

/** Whether a name may be a short name. */
export function isShortName(name: string): boolean {
  return ENDING.test(name);
}

/** Number of hexadecimal digits of the digest at its end. */
const DIGITS = 20;
const ENDING = new RegExp(`_[0-9a-f]{${DIGITS}}$`);
