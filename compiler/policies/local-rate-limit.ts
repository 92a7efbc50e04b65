import type { ExpressionConfig } from "../backends/parts/expressions.ts";
import { resolveOfRequest } from "../backends/parts/known-identities.ts";
import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import { listChanges, type SettingsChange } from "../model/access.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { LimitWindow } from "../model/limit-window.ts";
import { parseDuration } from "../schema/duration.ts";
import {
  choice,
  duration,
  expression,
  type Infer,
  integer,
  list,
  needsField,
  number,
  object,
} from "../schema/schema.ts";
import { countsTokens } from "./parts/token-limits.ts";
import type { Policy, ResolveContext } from "./policy.ts";

/** A limit as configured; what is missing is reported. */
interface LimitConfig {
  /** What takes from it: requests, or the tokens that models use for them. */
  readonly counts: "requests" | "tokens";
  /** The field that says so. */
  readonly counted: "requests" | "tokens" | "budget" | "type";
  readonly capacity: number;
  readonly refill: number | undefined;
  readonly interval: LimitWindow | undefined;
  readonly key: ExpressionConfig | undefined;
  /** What a call takes in the place of its tokens. */
  readonly cost: ExpressionConfig | undefined;
  readonly origin: Origin;
  /** The fields that the other ones need. */
  readonly needs: readonly [refill: string, interval: string];
}

/** A token bucket, for all requests or for each value of a key. */
export interface LimitNode {
  /** What the generated code calls it: `perMinute`. */
  readonly name: string;
  readonly counts: "requests" | "tokens";
  readonly capacity: number;
  readonly refill: number;
  readonly interval: LimitWindow;
  readonly key: CompiledExpression | undefined;
  /** What a call takes when it is over; undefined: its tokens. */
  readonly cost: CompiledExpression | undefined;
  /** A restart does not reset it. */
  readonly isKept: boolean;
  readonly origin: Origin;
}

/** `localRateLimit` as configured. */
interface LocalRateLimitConfig {
  readonly limits: readonly LimitConfig[];
}

/** In the order in which they are asked: by key first, then the shorter intervals. */
interface LocalRateLimitNode {
  readonly limits: readonly LimitNode[];
}

const HOUR = 3_600_000;

const UNITS = {
  Seconds: 1000,
  Minutes: 60_000,
  Hours: HOUR,
  Days: "day",
  Months: "month",
} as const satisfies Readonly<Record<string, LimitWindow>>;

const MAX = 1_000_000_000_000;

const schema = list(
  object(
    {
      requests: integer("Requests in one unit of time.", 1, MAX),
      budget: number("Money in one unit of time, in whatever `cost` gives.", 0.000_001, MAX),
      unit: choice(
        "The unit; days and months are those of the calendar, in UTC. What is used of an hour's limit and of longer ones is kept below `GWC_STATE_DIR`.",
        ["Seconds", "Minutes", "Hours", "Days", "Months"],
      ),
      burst: integer("Requests beyond them that may come at once.", 0, MAX, { default: 0 }),
      maxTokens: integer("What the bucket holds at most, and at first.", 1, MAX),
      tokensPerFill: integer("What each interval brings.", 1, MAX),
      fillInterval: duration("The interval."),
      type: choice(
        "What takes a token: a request, or each token of the models it uses.",
        ["requests", "tokens"],
        { default: "requests" },
      ),
      tokens: integer("Tokens of models in one unit of time, input and output.", 1, MAX),
      cost: expression(
        "What a call takes when it is over, in the place of its tokens: `double(llm.totalTokens) * 0.000001`. One whose cost fails takes nothing, and the operator is warned.",
      ),
      key: expression(
        "Gives each value its own bucket: `jwt.sub`, `source.address`. Callers for whom it fails share one.",
      ),
    },
    {
      exactlyOneOf: ["requests", "maxTokens", "tokens", "budget"],
      checks: [
        {
          message: '"unit" acts only beside "requests", "tokens" or "budget"',
          field: "unit",
          needs: "requests",
          holds: ({ unit, maxTokens }) => unit === undefined || maxTokens === undefined,
          cel: "!has(self.unit) || !has(self.maxTokens)",
        },
        {
          message: '"burst" acts only beside "requests", "tokens" or "budget"',
          field: "burst",
          needs: "requests",
          holds: ({ burst, maxTokens }) => burst === undefined || maxTokens === undefined,
          cel: "!has(self.burst) || !has(self.maxTokens)",
        },
        {
          message: '"cost" acts only beside "budget" or "type: tokens"',
          field: "cost",
          needs: "budget",
          holds: ({ cost, budget, type }) =>
            cost === undefined || budget !== undefined || type === "tokens",
          cel: "!has(self.cost) || has(self.budget) || (has(self.type) && self.type == 'tokens')",
        },
        needsField("budget", "cost"),
        needsField("budget", "unit"),
        needsField("tokens", "unit"),
        needsField("type", "maxTokens"),
        needsField("tokensPerFill", "maxTokens"),
        needsField("fillInterval", "maxTokens"),
      ],
      description:
        "`requests`, `tokens` or a `budget` in each `unit`, or a token bucket in its own words.",
      examples: [
        { requests: 100, unit: "Minutes", key: "source.address" },
        {
          budget: 50,
          unit: "Months",
          key: "apiKey.team",
          cost: "(double(llm.inputTokens) * 0.25 + double(llm.outputTokens) * 2.0) / 1000000.0",
        },
      ],
    },
  ),
  { minItems: 1, maxItems: 16, description: "Limits; a request has to pass all of them." },
);

const kubernetesSchema = list(
  object(
    {
      requests: integer("Requests in a unit.", 1, Number.MAX_SAFE_INTEGER),
      tokens: integer("LLM tokens in a unit.", 1, Number.MAX_SAFE_INTEGER),
      unit: choice("The unit.", ["Seconds", "Minutes", "Hours"]),
      burst: integer("Extra allowance in a short time.", 0, Number.MAX_SAFE_INTEGER),
    },
    { required: ["unit"], exactlyOneOf: ["requests", "tokens"] },
  ),
  { minItems: 1, maxItems: 16 },
);

/** How many requests pass in a time, counted by each gateway for itself. */
export const localRateLimit: Policy<
  "localRateLimit",
  LocalRateLimitConfig,
  LocalRateLimitNode,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "localRateLimit",
  summary:
    "limits requests, tokens of models or what these cost, for all requests of the route or for each caller (`key`); 429 beyond",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  keepsCounts: ({ limits }) => limits.some(({ isKept }) => isKept),
  schema,
  aliases: [["rateLimit", "local"]],
  names: ["per", "tokensPer", "budgetPer"].flatMap((counted) =>
    ["Second", "Minute", "Hour", "Day", "Month", "Interval"].map((unit) => `${counted}${unit}`),
  ),
  direction: "closes",
  access: () => [{ kind: "outside", what: "refuses requests over a limit", decidesWho: false }],
  compare: { changes: limitChanges, rest: restOfLimits },
  merge: "replace",
  lower: (value, origin) => ({
    limits: value.map((each, index) => lowerLimit(each, childOf(origin, index))),
  }),
  kubernetes: {
    field: "traffic.rateLimit",
    part: "local",
    schema: kubernetesSchema,
    lower: (limits, { origin }) => ({
      limits: limits.map((each, index) => lowerLimit(each, childOf(origin, index))),
    }),
  },
  limitsTokens: ({ limits }) => limits.some(({ counts }) => counts === "tokens"),
  resolve: ({ limits }, context) => {
    const { diagnostics } = context;
    const names = new Map<string, number>();
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
        const bound = { field: `"${needs[1]}"`, bound: "is at least 1ms" };
        diagnostics.report("out-of-range", childOf(origin, needs[1]), bound);
        return [];
      }
      const options = { phase: "request", slot: "value" } as const;
      const key = limit.key && resolveOfRequest(limit.key, options, context);
      if (refill === undefined || interval === undefined) return [];
      if (limit.key !== undefined && key === undefined) return [];
      const cost = limit.cost && resolveCost(limit.cost, context);
      if (limit.cost !== undefined && cost === undefined) return [];
      const name = nameOf(limit, interval, key !== undefined);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      const unique = count === 1 ? name : `${name}${count}`;
      const isKept = typeof interval !== "number" || interval >= HOUR;
      const settings = { counts, capacity, refill, interval, key, cost, isKept, origin };
      return [{ name: unique, ...settings }];
    });
    if (acting.length === 0 || resolved.length < acting.length) return undefined;
    return { limits: resolved.sort(compareLimits) };
  },
};

function lowerLimit(given: Partial<Infer<typeof schema>[number]>, origin: Origin): LimitConfig {
  const key =
    given.key === undefined ? undefined : { text: given.key, origin: childOf(origin, "key") };
  const cost =
    given.cost === undefined ? undefined : { text: given.cost, origin: childOf(origin, "cost") };
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
    origin,
    needs,
  };
}

/** It is known when the call is over, and then of the call: there is no response to be read any more. */
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
 * A request that one limit refuses has taken tokens of those before it: so the caller's own come before everybody's,
 * and those that come back soon before the others.
 */
function compareLimits(a: LimitNode, b: LimitNode): number {
  return Number(b.key !== undefined) - Number(a.key !== undefined) || lengthOf(a) - lengthOf(b);
}

/** Milliseconds, of months about. */
function lengthOf({ interval }: LimitNode): number {
  if (typeof interval === "number") return interval;
  return interval === "day" ? 24 * HOUR : 30 * 24 * HOUR;
}

/** Which limits let more or less through than before. */
/** What is counted and how, of the limits that both have. */
function restOfLimits({ limits }: LocalRateLimitNode, others: LocalRateLimitNode) {
  const both = limits.filter(({ name }) => others.limits.some((each) => each.name === name));
  return Object.fromEntries(
    both.map(({ name, capacity: _, refill: __, ...rest }) => [name, rest] as const),
  );
}

function limitChanges(
  before: LocalRateLimitNode,
  after: LocalRateLimitNode,
): readonly SettingsChange[] {
  const names = ({ limits }: LocalRateLimitNode) => limits.map(({ name }) => name);
  const ofBoth = after.limits.flatMap((limit): readonly SettingsChange[] => {
    const old = before.limits.find(({ name }) => name === limit.name);
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
