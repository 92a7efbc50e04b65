import type { StoreFailure } from "../../runtime/policies/local-rate-limit/lease.ts";
import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import { resolveOfRequest } from "../backends/parts/known-identities.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { type AccessCheck, listChanges, type SettingsChange } from "../model/access.ts";
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
  /** How replicas count together; `undefined` if each counts for itself. */
  readonly shared: SharedLimitNode | undefined;
  /** Whether the configuration says that each replica counts for itself. */
  readonly isMeantLocal: boolean;
  readonly origin: Origin;
}

/** How replicas count a limit together. */
export interface SharedLimitNode {
  readonly isStrict: boolean;
  readonly onStoreFailure: StoreFailure;
  /** Whether a gateway may start without the store, and then counts for itself. */
  readonly isOptional: boolean;
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

/** Limits how many requests pass per unit of time, for each gateway process or for all replicas together. */
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
    usesStore: (settings) =>
      limitsOf(settings).some(({ shared }) => shared !== undefined) ? "sharing" : undefined,
    limits: (settings) => limitsOf(settings).map((limit) => `${limit.name}: ${countedText(limit)}`),
    countsAlone: (settings) =>
      limitsOf(settings).find(({ shared, isMeantLocal }) => shared === undefined && !isMeantLocal)
        ?.origin,
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
    checks: (settings) => limitsOf(settings).map(limitCheck).filter(isFirst),
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
    const amounts = { counts, capacity, refill, interval, key, cost, isPersisted };
    const isMeantLocal = limit.consistency === "local";
    return [{ name: unique, ...amounts, shared: sharedBy(limit, context), isMeantLocal, origin }];
  });
  return resolved.length < acting.length ? undefined : resolved.toSorted(compareLimits);
}

/** Returns how replicas count a limit together; reports what requires a store that they share. */
function sharedBy(
  { consistency, onStoreFailure = "local", ...limit }: LimitConfig,
  { sharedStore, diagnostics }: ResolveContext,
): SharedLimitNode | undefined {
  const field = consistency === undefined ? "onStoreFailure" : "consistency";
  if (sharedStore === "none" && consistency !== "local" && limit.isMeantShared)
    diagnostics.report("limit-without-store", childOf(limit.origin, field), { field });
  if (sharedStore !== "required" && sharedStore !== "optional") return undefined;
  if (consistency === "local") return undefined;
  const isOptional = sharedStore === "optional";
  return { isStrict: consistency === "strict", onStoreFailure, isOptional };
}

/** Describes a limit for explanations and audits. */
function limitCheck(limit: LimitNode): AccessCheck {
  return {
    kind: "outside",
    what: `refuses requests over a limit, ${countedText(limit)}`,
    decidesWho: false,
    passesOnFailure: limit.shared?.onStoreFailure === "open",
  };
}

/** Describes where a limit is counted, how exactly, and what happens without the store. */
function countedText({ shared }: LimitNode): string {
  if (shared === undefined) return "counted by each replica for itself";
  const { isStrict, onStoreFailure, isOptional } = shared;
  const how = isStrict
    ? "strict: each request asks the store"
    : "leased: never exceeded, and at most a sixth of what is left is lent to replicas";
  const without = {
    local: "each replica counts for itself",
    closed: "requests get 503",
    open: "requests are not counted",
  }[onStoreFailure];
  const start = isOptional ? "; by each replica for itself if the store is not named" : "";
  return `counted in the store by all replicas together (${how}; while it does not respond, ${without}${start})`;
}

/** Whether a check is not the repetition of an earlier one. */
function isFirst(check: AccessCheck, index: number, checks: readonly AccessCheck[]): boolean {
  const text = JSON.stringify(check);
  return checks.findIndex((each) => JSON.stringify(each) === text) === index;
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
  const counted = both.map(
    ({ name, capacity: _, refill: __, shared: ___, isMeantLocal: ____, ...rest }) =>
      [name, rest] as const,
  );
  return { ...Object.fromEntries(counted), conditions: conditionsOf(settings) };
}

/** Compares the amounts of limits, and how replicas count them. */
function limitChanges(
  before: LocalRateLimitNode,
  after: LocalRateLimitNode,
): readonly SettingsChange[] {
  const names = (settings: LocalRateLimitNode) => limitsOf(settings).map(({ name }) => name);
  const ofBoth = limitsOf(after).flatMap((limit): readonly SettingsChange[] => {
    const old = limitsOf(before).find(({ name }) => name === limit.name);
    if (old === undefined) return [];
    const amounts = (["capacity", "refill"] as const).flatMap((field): readonly SettingsChange[] =>
      old[field] === limit[field]
        ? []
        : [
            {
              direction: limit[field] > old[field] ? "opens" : "closes",
              text: `limit ${limit.name}: ${field} ${old[field]} -> ${limit[field]}`,
            },
          ],
    );
    return [...amounts, ...sharingChanges(limit.name, old.shared, limit.shared)];
  });
  return [...ofBoth, ...listChanges("limit", names(before), names(after), "closes")];
}

/** Compares how replicas count a limit: what lets more requests pass, at any time or without the store, opens. */
function sharingChanges(
  name: string,
  before: SharedLimitNode | undefined,
  after: SharedLimitNode | undefined,
): readonly SettingsChange[] {
  if (before === undefined || after === undefined) {
    if (before === after) return [];
    return after === undefined
      ? [
          {
            direction: "opens",
            text: `limit ${name}: counted by each replica instead of all together, so that n replicas admit n times as much`,
          },
        ]
      : [
          {
            direction: "closes",
            text: `limit ${name}: counted by all replicas together instead of each`,
          },
        ];
  }
  const consistency = (shared: SharedLimitNode) => (shared.isStrict ? "strict" : "leased");
  const [was, is] = [before.onStoreFailure, after.onStoreFailure];
  return [
    ...(before.isStrict === after.isStrict
      ? []
      : [
          {
            direction: before.isStrict ? ("opens" as const) : ("closes" as const),
            text: `limit ${name}: ${consistency(before)} -> ${consistency(after)}`,
          },
        ]),
    ...(was === is
      ? []
      : [
          {
            direction: LENIENCE[is] > LENIENCE[was] ? ("opens" as const) : ("closes" as const),
            text: `limit ${name}: onStoreFailure ${was} -> ${is}`,
          },
        ]),
  ];
}

const LENIENCE: Readonly<Record<StoreFailure, number>> = { closed: 0, local: 1, open: 2 };
