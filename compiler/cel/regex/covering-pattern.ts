/** A pattern that matches every string. */
export const ANYTHING = "(?s).*";

/**
 * Returns a valid pattern that matches every string that an invalid pattern could have been meant to match as a whole:
 * its literal prefix, then anything. Assertions may only narrow the author's intention, never widen it.
 */
export function coveringPattern(pattern: string): string {
  // With an alternative anywhere, the prefix is not certain.
  if (pattern.includes("|")) return ANYTHING;
  const [literal = ""] = pattern.match(/^[A-Za-z0-9/_~@%:,;=&!-]*/) ?? [];
  // A repeated element may be absent.
  const isRepeated = /^[*?+{]/.test(pattern.slice(literal.length));
  return `${isRepeated ? literal.slice(0, -1) : literal}${ANYTHING}`;
}
