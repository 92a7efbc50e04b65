/** The messages of a method that a processor checks. */
export type Phase = "off" | "request" | "response" | "full";

/** Phases by method: its name, a beginning with `*` after it, an end with `*` before it, or `*` for all methods. */
export type Phases = Readonly<Record<string, Phase>>;

/** Returns the phase of a method by the most specific pattern: a name, then beginnings, then ends, each the longest first. */
export function phaseOf(phases: Phases, method: string): Phase {
  const own = Object.hasOwn(phases, method) ? phases[method] : undefined;
  if (own !== undefined) return own;
  const found = Object.keys(phases)
    .filter((pattern) => matches(pattern, method))
    .sort((a, b) => rankOf(b) - rankOf(a) || b.length - a.length || (a < b ? -1 : 1));
  return phases[found[0] ?? ""] ?? "off";
}

function matches(pattern: string, method: string): boolean {
  if (pattern.endsWith("*")) return method.startsWith(pattern.slice(0, -1));
  return pattern.startsWith("*") && method.endsWith(pattern.slice(1));
}

function rankOf(pattern: string): number {
  if (pattern === "*") return 0;
  return pattern.endsWith("*") ? 2 : 1;
}
