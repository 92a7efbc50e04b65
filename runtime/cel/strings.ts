/** `text.startsWith(prefix)`. */
export function startsWith(text: unknown, prefix: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof prefix !== "string") return undefined;
  return text.startsWith(prefix);
}

/** `text.endsWith(suffix)`. */
export function endsWith(text: unknown, suffix: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof suffix !== "string") return undefined;
  return text.endsWith(suffix);
}

/** `text.contains(part)`. */
export function contains(text: unknown, part: unknown): boolean | undefined {
  if (typeof text !== "string" || typeof part !== "string") return undefined;
  return text.includes(part);
}
