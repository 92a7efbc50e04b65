import type { StoreFailure } from "../../../runtime/policies/local-rate-limit/lease.ts";
import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { LimitWindow } from "../../model/limit-window.ts";
import { parseDuration } from "../../schema/duration.ts";
import { fileWord } from "../../schema/two-forms.ts";
import type { LimitValue, ManifestLimitValue } from "./limit-schemas.ts";

/** A limit as configured; missing fields are reported later. */
export interface LimitConfig {
  /** Unit that the limit counts: requests, or LLM tokens. */
  readonly counts: "requests" | "tokens";
  /** Field that determines `counts`. */
  readonly counted: "requests" | "tokens" | "budget" | "type";
  readonly capacity: number;
  readonly refill: number | undefined;
  readonly interval: LimitWindow | undefined;
  readonly key: ExpressionConfig | undefined;
  /** Amount that a call consumes instead of its tokens. */
  readonly cost: ExpressionConfig | undefined;
  /** Mode of counting, as configured; `undefined` for the default. */
  readonly consistency: "leased" | "strict" | "local" | undefined;
  readonly onStoreFailure: StoreFailure | undefined;
  /** Whether one of the two is configured. */
  readonly isMeantShared: boolean;
  readonly origin: Origin;
  /** Names of the fields that set `refill` and `interval`. */
  readonly needs: readonly [refill: string, interval: string];
}

/** Units of limits, in milliseconds or by the calendar. */
export const UNITS = {
  Seconds: 1000,
  Minutes: 60_000,
  Hours: 3_600_000,
  Days: "day",
  Months: "month",
} as const satisfies Readonly<Record<string, LimitWindow>>;

/** Costs of a call by the prices of models, which a budget counts by default. */
export const CATALOG_COST = "llm.cost.total";

function costOf(
  { cost, budget }: Pick<Partial<LimitValue>, "cost" | "budget">,
  origin: Origin,
): LimitConfig["cost"] {
  if (cost !== undefined) return { text: cost, origin: childOf(origin, "cost") };
  return budget === undefined
    ? undefined
    : { text: CATALOG_COST, origin: childOf(origin, "budget") };
}

/** A limit of either form. */
type GivenLimit = Partial<Omit<LimitValue, "consistency" | "onStoreFailure">> &
  Pick<Partial<LimitValue> | ManifestLimitValue, "consistency" | "onStoreFailure">;

/** Reads a limit of either form. */
export function lowerLimit(given: GivenLimit, origin: Origin): LimitConfig {
  const { consistency, onStoreFailure } = given;
  const shared = {
    consistency: consistency && fileWord(consistency),
    onStoreFailure: onStoreFailure && fileWord(onStoreFailure),
    isMeantShared: consistency !== undefined || onStoreFailure !== undefined,
  };
  const key =
    given.key === undefined ? undefined : { text: given.key, origin: childOf(origin, "key") };
  const cost = costOf(given, origin);
  const amount = given.requests ?? given.tokens ?? given.budget;
  if (amount !== undefined) {
    const { unit, burst = 0 } = given;
    const [counted] = (["requests", "tokens"] as const).filter((key) => given[key] !== undefined);
    const counts = counted === "requests" ? counted : "tokens";
    const interval = unit === undefined ? undefined : UNITS[unit];
    const needs = [counts, "unit"] as const;
    return {
      counts,
      counted: counted ?? "budget",
      capacity: amount + burst,
      refill: amount,
      interval,
      key,
      cost,
      ...shared,
      origin,
      needs,
    };
  }
  const interval = given.fillInterval === undefined ? undefined : parseDuration(given.fillInterval);
  const needs = ["tokensPerFill", "fillInterval"] as const;
  return {
    counts: given.type ?? "requests",
    counted: "type",
    capacity: given.maxTokens ?? 0,
    refill: given.tokensPerFill,
    interval,
    key,
    cost,
    ...shared,
    origin,
    needs,
  };
}
