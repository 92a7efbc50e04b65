import { compilePattern } from "../../cel/functions/pattern.ts";
import { Search } from "../../patterns/search.ts";
import type { Guard, GuardRejection } from "./guard-run.ts";

/** A guard with patterns. */
export interface PatternGuard extends Guard {
  /** In the order in which they are searched. */
  readonly patterns: readonly GuardPattern[];
  /** Response to a match; `undefined` if matches are masked. */
  readonly rejection: GuardRejection | undefined;
}

/** A pattern, and the replacement of its matches. */
export interface GuardPattern {
  readonly search: Search;
  readonly mask: string;
}

/** Creates a guard that masks matches. */
export function maskPatterns(patterns: readonly GuardPattern[]): PatternGuard {
  return { kind: "regex", patterns, rejection: undefined };
}

/** Creates a guard that rejects texts with a match. */
export function rejectPatterns(
  patterns: readonly GuardPattern[],
  rejection: GuardRejection,
): PatternGuard {
  return { kind: "regex", patterns, rejection };
}

/**
 * Creates a configured pattern in RE2 syntax, which the build has checked. `longest`: see `SearchSettings`. The same pattern
 * is shared, even across reloads of the configuration, because its automata are large.
 */
export function guardPattern(pattern: string, longest: number): GuardPattern {
  const key = `${longest} ${pattern}`;
  const known = patterns.get(key);
  if (known !== undefined) return known;
  const search = new Search({ pattern: compilePattern(pattern), longest });
  const made = { search, mask: "<masked>" };
  patterns.set(key, made);
  return made;
}

const patterns = new Map<string, GuardPattern>();
