import { lowerExpressions } from "../../backends/parts/named-expressions.ts";
import type { UsageConfig } from "../../config/usage.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { UsageValue } from "../../manifests/usage.ts";

const DEFAULT_DAYS = 400;

/** Reads `usage`; `origin` is its place. Returns `undefined` if usage is not stored. */
export function readUsage(value: UsageValue | undefined, origin: Origin): UsageConfig | undefined {
  if (value === undefined) return undefined;
  const { by, days = DEFAULT_DAYS, selfService = false } = value;
  return {
    by: lowerExpressions(by, childOf(origin, "by")),
    days,
    isForCallers: selfService,
    origin,
  };
}
