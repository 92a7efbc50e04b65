/**
 * Returns the hostnames that match both patterns, as a pattern; `undefined` if there are none. Patterns are exact
 * names, `*.example.com` (any number of labels, as in Gateway API), or `*`.
 */
export function intersectHostnames(a: string, b: string): string | undefined {
  if (a === b || b === "*") return a;
  if (a === "*") return b;
  if (covers(a, b)) return b;
  return covers(b, a) ? a : undefined;
}

/** Compares patterns by precedence: exact names, then wildcards from the longest, then `*`. */
export function compareHostnames(a: string, b: string): number {
  return rank(b) - rank(a) || b.length - a.length || (a < b ? -1 : a > b ? 1 : 0);
}

function covers(wildcard: string, hostname: string): boolean {
  return wildcard.startsWith("*.") && hostname.endsWith(wildcard.slice(1));
}

function rank(hostname: string): number {
  if (hostname === "*") return 0;
  return hostname.startsWith("*.") ? 1 : 2;
}
