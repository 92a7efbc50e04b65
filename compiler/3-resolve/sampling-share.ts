import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";

/** Types of a sampling rate. */
const SHARES: ReadonlySet<string> = new Set(["bool", "int", "uint", "double", "dyn"]);

/** Matches a constant sampling rate. */
const NUMBER = /^-?\d+(\.\d+)?u?$/;

/** Reports a sampling rate of another type, or a constant one that is not between 0 and 1. */
export function checkShare(
  { type, source }: CompiledExpression,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (!SHARES.has(type)) diagnostics.report("sampling-type", origin, { type });
  const share = constantShare(source);
  if (share !== undefined && !(share >= 0 && share <= 1)) {
    diagnostics.report("sampling-range", origin, { value: source });
  }
}

/** Returns a constant sampling rate; `undefined` for other expressions. */
export function constantShare(source: string): number | undefined {
  return NUMBER.test(source) ? Number.parseFloat(source) : undefined;
}
