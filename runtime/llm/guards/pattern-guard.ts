import { compilePattern } from "../../cel/functions/pattern.ts";
import { Search } from "../../patterns/search.ts";
import { SharedBeginnings } from "../../patterns/shared-beginnings.ts";
import type { Guard } from "./guard.ts";
import type { GuardRejection } from "./guard-run.ts";

/** A guard that looks for patterns. */
export interface PatternGuard extends Guard {
  /** In the order in which they are looked for. */
  readonly patterns: readonly GuardPattern[];
  readonly beginnings: SharedBeginnings;
  /** What clients get when there is a match; undefined: matches are masked. */
  readonly rejection: GuardRejection | undefined;
}

/** A pattern, and what stands in the place of its matches. */
export interface GuardPattern {
  readonly search: Search;
  readonly mask: string;
}

/** A guard that puts a mask in the place of matches. */
export function maskPatterns(patterns: readonly GuardPattern[]): PatternGuard {
  return { kind: "regex", patterns, beginnings: beginningsOf(patterns), rejection: undefined };
}

/** A guard that lets nothing pass that has a match. */
export function rejectPatterns(
  patterns: readonly GuardPattern[],
  rejection: GuardRejection,
): PatternGuard {
  return { kind: "regex", patterns, beginnings: beginningsOf(patterns), rejection };
}

function beginningsOf(patterns: readonly GuardPattern[]): SharedBeginnings {
  return new SharedBeginnings(patterns.map(({ search }) => search));
}

/**
 * A pattern of the configuration, of RE2 syntax; the build has checked it. `longest`: see `SearchSettings`. The same pattern
 * is one, also in code that takes the place of other code while the gateway runs: what is known of it is large.
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
