import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import { resolveOfRequest } from "../backends/parts/known-identities.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { LimitWindow } from "../model/limit-window.ts";
import type { Infer } from "../schema/schema.ts";
import {
  CATALOG_COST,
  type LimitConfig,
  lowerLimit,
  UNITS,
} from "./local-rate-limit/limit-config.ts";
import { kubernetesLimitsSchema, localRateLimitSchema } from "./local-rate-limit/limit-schemas.ts";
import type { CaseConfig } from "./parts/case-config.ts";
import {
  type CaseNode,
  conditionsOf,
  joinCases,
  lowerConditional,
  resolveCases,
} from "./parts/conditions.ts";
import { countsTokens } from "./parts/token-limits.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A token bucket, for all requests or for each value of a key. */
export interface LimitNode {
  /** Name in the generated code, such as `perMinute`. */
  readonly name: string;
  readonly counts: "requests" | "tokens";
  readonly capacity: number;
  readonly refill: number;
  readonly interval: LimitWindow;
  readonly key: CompiledExpression | undefined;
  /** Amount that a finished call consumes; `undefined` for its number of tokens. */
  readonly cost: CompiledExpression | undefined;
  /** Whether its state is persisted, so that a restart does not reset it. */
  readonly isPersisted: boolean;
  readonly origin: Origin;
}

/** `localRateLimit` as configured. */
interface LocalRateLimitConfig {
  readonly cases: readonly CaseConfig<readonly LimitConfig[]>[];
}

/**
 * `localRateLimit` resolved. Limits are in the order in which they are checked: by key first, then shorter
 * intervals.
 */
interface LocalRateLimitNode {
  readonly cases: readonly CaseNode<readonly LimitNode[]>[];
}

/** Limits how many requests pass per unit of time; each gateway process counts for itself. */
export const localRateLimit: Policy<
  "localRateLimit",
  LocalRateLimitConfig,
  LocalRateLimitNode,
  Infer<typeof localRateLimitSchema>,
  Infer<typeof kubernetesLimitsSchema>
> = {
  kind: "localRateLimit",
  summary:
    "limits requests, LLM tokens or their cost, for the whole route or per caller (`key`), with 429 beyond",
  scope: ["listener", "route"],
  traits: {
    actsOn: ["requests"],
    countsCosts: (config) => limitsOf(config).some(({ cost }) => cost?.text === CATALOG_COST),
    limitsTokens: (config) => limitsOf(config).some(({ counts }) => counts === "tokens"),
  },
  schema: localRateLimitSchema,
  aliases: [["rateLimit", "local"]],
  names: [
    "isLimited",
    ...["per", "tokensPer", "budgetPer"].flatMap((counted) =>
      ["Second", "Minute", "Hour", "Day", "Month", "Interval"].map((unit) => `${counted}${unit}`),
    ),
  ],
  access: {
    direction: "closes",
    checks: () => [{ kind: "outside", what: "refuses requests over a limit", decidesWho: false }],
    compare: { changes: limitChanges, rest: restOfLimits },
    callerKeys: (settings) =>
      limitsOf(settings).flatMap(({ key, origin }) =>
        key === undefined ? [] : [{ text: key.source, origin: childOf(origin, "key") }],
      ),
  },
  lowering: {
    merge: "replace",
    lower: (value, origin) => ({
      cases:
        "conditional" in value
          ? lowerConditional(value.conditional, origin, (each, at) => [lowerLimit(each, at)])
          : [{ condition: undefined, value: lowerLimits(value, origin), origin }],
    }),
    resolve: ({ cases }, context) => {
      const names = new Map<string, number>();
      const resolved = resolveCases(cases, context, (limits) =>
        resolveLimits(limits, names, context),
      );
      // Without LLM backends, token limits have nothing to count.
      return resolved?.some(({ value }) => value.length > 0) === true
        ? { cases: resolved }
        : undefined;
    },
  },
  kubernetes: {
    field: "traffic.rateLimit",
    part: "local",
    schema: kubernetesLimitsSchema,
    lower: (limits, { origin }) => ({
      cases: [{ condition: undefined, value: lowerLimits(limits, origin), origin }],
    }),
    ofConditions: joinCases,
    idle: ({ cases }) => ({ cases: cases.map((each) => ({ ...each, value: [] })) }),
  },
};

function limitsOf<Limit>({
  cases,
}: {
  readonly cases: readonly { readonly value: readonly Limit[] }[];
}): readonly Limit[] {
  return cases.flatMap(({ value }) => value);
}

function lowerLimits(
  limits: readonly Parameters<typeof lowerLimit>[0][],
  origin: Origin,
): readonly LimitConfig[] {
  return limits.map((each, index) => lowerLimit(each, childOf(origin, index)));
}

/** Resolves the limits that act on the route; `names` has the names already in use. */
function resolveLimits(
  limits: readonly LimitConfig[],
  names: Map<string, number>,
  context: ResolveContext,
): readonly LimitNode[] | undefined {
  const { diagnostics } = context;
  const acting = limits.filter(
    ({ counts, counted, origin }) =>
      counts === "requests" || countsTokens(counted, childOf(origin, counted), context),
  );
  const resolved = acting.flatMap((limit): LimitNode[] => {
    const { counts, capacity, refill, interval, origin, needs } = limit;
    const missing = [refill, interval].flatMap((part, index) =>
      part === undefined ? [needs[index] ?? ""] : [],
    );
    for (const key of missing) {
      diagnostics.report("missing-field", origin, { owner: "localRateLimit", key });
    }
    if (typeof interval === "number" && interval < 1) {
      const bound = { field: `"${needs[1]}"`, bound: "must be at least 1ms" };
      diagnostics.report("out-of-range", childOf(origin, needs[1]), bound);
      return [];
    }
    const options = { phase: "request", slot: "value" } as const;
    const key = limit.key && resolveOfRequest(limit.key, options, context);
    const cost = limit.cost && resolveCost(limit.cost, context);
    if (refill === undefined || interval === undefined) return [];
    if (limit.key !== undefined && key === undefined) return [];
    if (limit.cost !== undefined && cost === undefined) return [];
    const name = nameOf(limit, interval, key !== undefined);
    const count = (names.get(name) ?? 0) + 1;
    names.set(name, count);
    const unique = count === 1 ? name : `${name}${count}`;
    const isPersisted = typeof interval !== "number" || interval >= UNITS.Hours;
    const settings = { counts, capacity, refill, interval, key, cost, isPersisted, origin };
    return [{ name: unique, ...settings }];
  });
  return resolved.length < acting.length ? undefined : resolved.toSorted(compareLimits);
}

/** Resolves the cost expression. It is evaluated when the call is over, so it cannot read the response. */
function resolveCost(
  config: ExpressionConfig,
  context: ResolveContext,
): CompiledExpression | undefined {
  const options = { phase: "response", slot: "value" } as const;
  const cost = resolveOfRequest(config, options, context);
  if (cost?.variables.includes("response") !== true) return cost;
  context.diagnostics.report("cost-reads-response", config.origin, {});
  return undefined;
}

const unitNames = new Map<LimitWindow, string>(
  Object.entries(UNITS).map(([unit, interval]) => [interval, unit.replace(/s$/, "")]),
);

function nameOf({ counts, cost }: LimitConfig, interval: LimitWindow, isKeyed: boolean): string {
  const counted = counts === "requests" ? "per" : cost === undefined ? "tokensPer" : "budgetPer";
  return `${counted}${unitNames.get(interval) ?? "Interval"}${isKeyed ? "ByKey" : ""}`;
}

/**
 * Orders limits. A request that one limit refuses has already consumed tokens of those before it, so limits per
 * caller come before shared ones, and fast-refilling ones before slow ones.
 */
function compareLimits(a: LimitNode, b: LimitNode): number {
  return Number(b.key !== undefined) - Number(a.key !== undefined) || lengthOf(a) - lengthOf(b);
}

/** Returns the interval in milliseconds, approximated for months. */
function lengthOf({ interval }: LimitNode): number {
  if (typeof interval === "number") return interval;
  return interval === "day" ? 24 * UNITS.Hours : 30 * 24 * UNITS.Hours;
}

/** Returns the settings other than amounts, of limits on both sides, and the conditions. */
function restOfLimits(settings: LocalRateLimitNode, others: LocalRateLimitNode) {
  const known = new Set(limitsOf(others).map(({ name }) => name));
  const both = limitsOf(settings).filter(({ name }) => known.has(name));
  const counted = both.map(({ name, capacity: _, refill: __, ...rest }) => [name, rest] as const);
  return { ...Object.fromEntries(counted), conditions: conditionsOf(settings) };
}

/** Compares the amounts of limits. */
function limitChanges(
  before: LocalRateLimitNode,
  after: LocalRateLimitNode,
): readonly SettingsChange[] {
  const names = (settings: LocalRateLimitNode) => limitsOf(settings).map(({ name }) => name);
  const ofBoth = limitsOf(after).flatMap((limit): readonly SettingsChange[] => {
    const old = limitsOf(before).find(({ name }) => name === limit.name);
    if (old === undefined) return [];
    return (["capacity", "refill"] as const).flatMap((field) =>
      old[field] === limit[field]
        ? []
        : [
            {
              direction: limit[field] > old[field] ? "opens" : "closes",
              text: `limit ${limit.name}: ${field} ${old[field]} -> ${limit[field]}`,
            },
          ],
    );
  });
  return [...ofBoth, ...listChanges("limit", names(before), names(after), "closes")];
}
