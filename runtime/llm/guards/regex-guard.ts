import { compilePattern } from "../../cel/functions/pattern.ts";
import { Search } from "../../patterns/search.ts";

/** A guard that looks for patterns. */
export interface RegexGuard {
  readonly kind: "regex";
  /** In the order in which they are looked for. */
  readonly patterns: readonly GuardPattern[];
  /** What clients get when there is a match; undefined: matches are masked. */
  readonly rejection: GuardRejection | undefined;
}

/** A pattern, and what stands in the place of its matches. */
export interface GuardPattern {
  readonly search: Search;
  readonly mask: string;
}

/** What a client gets for what a guard rejects. */
export interface GuardRejection {
  readonly status: number;
  /** For the client, in its own format. */
  readonly message: string;
  /** A body in the place of the format's; `headers`: a flat list. */
  readonly own?: { readonly body: string; readonly headers: readonly string[] };
}

/** A guard that puts a mask in the place of matches. */
export function maskPatterns(patterns: readonly GuardPattern[]): RegexGuard {
  return { kind: "regex", patterns, rejection: undefined };
}

/** A guard that lets nothing pass that has a match. */
export function rejectPatterns(
  patterns: readonly GuardPattern[],
  rejection: GuardRejection,
): RegexGuard {
  return { kind: "regex", patterns, rejection };
}

/** A pattern of the configuration, of RE2 syntax; the build has checked it. `longest`: see `SearchSettings`. */
export function guardPattern(pattern: string, longest: number): GuardPattern {
  return { search: new Search({ pattern: compilePattern(pattern), longest }), mask: "<masked>" };
}
