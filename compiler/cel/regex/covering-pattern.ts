/** A pattern that every text matches, and so whatever another pattern could have matched. */
export const ANYTHING = "(?s).*";

/**
 * A pattern that compiles and matches every text that a pattern which does not compile could have been meant to match as a
 * whole: its literal beginning, then anything. Assertions may only narrow what an author means, never widen it.
 */
export function coveringPattern(pattern: string): string {
  // With an alternative anywhere, nothing is sure of the beginning.
  if (pattern.includes("|")) return ANYTHING;
  const [literal = ""] = pattern.match(/^[A-Za-z0-9/_~@%:,;=&!-]*/) ?? [];
  // What may be repeated may be absent.
  const isRepeated = /^[*?+{]/.test(pattern.slice(literal.length));
  return `${isRepeated ? literal.slice(0, -1) : literal}${ANYTHING}`;
}
