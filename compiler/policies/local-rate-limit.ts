import { childOf, type Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import { parseDuration } from "../schema/duration.ts";
import {
  choice,
  duration,
  expression,
  type Infer,
  integer,
  list,
  needsField,
  object,
} from "../schema/schema.ts";
import { type ExpressionConfig, resolveExpression } from "./parts/expressions.ts";
import type { Policy } from "./policy.ts";

/** A limit as configured; what is missing is reported. */
interface LimitConfig {
  /** What takes from it: requests, or the tokens that models use for them. */
  readonly counts: "requests" | "tokens";
  readonly capacity: number;
  readonly refill: number | undefined;
  /** Milliseconds. */
  readonly interval: number | undefined;
  readonly key: ExpressionConfig | undefined;
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
  readonly interval: number;
  readonly key: CompiledExpression | undefined;
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

const UNITS = { Seconds: 1000, Minutes: 60_000, Hours: 3_600_000 } as const;

const MAX = 1_000_000_000;

const schema = list(
  object(
    {
      requests: integer("Requests in one unit of time.", 1, MAX),
      unit: choice("The unit.", ["Seconds", "Minutes", "Hours"]),
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
      key: expression(
        "Gives each value its own bucket: `jwt.sub`, `source.address`. Callers for whom it fails share one.",
      ),
    },
    {
      exactlyOneOf: ["requests", "maxTokens", "tokens"],
      checks: [
        {
          message: '"unit" acts only beside "requests" or "tokens"',
          field: "unit",
          needs: "requests",
          holds: ({ unit, maxTokens }) => unit === undefined || maxTokens === undefined,
          cel: "!has(self.unit) || !has(self.maxTokens)",
        },
        {
          message: '"burst" acts only beside "requests" or "tokens"',
          field: "burst",
          needs: "requests",
          holds: ({ burst, maxTokens }) => burst === undefined || maxTokens === undefined,
          cel: "!has(self.burst) || !has(self.maxTokens)",
        },
        needsField("tokens", "unit"),
        needsField("type", "maxTokens"),
        needsField("tokensPerFill", "maxTokens"),
        needsField("fillInterval", "maxTokens"),
      ],
      description: "`requests` in each `unit`, or a token bucket in its own words.",
      examples: [{ requests: 100, unit: "Minutes", key: "source.address" }],
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
    "token buckets, for all requests of the route or one for each caller (`key`); 429 beyond",
  scope: ["listener", "route"],
  actsOn: ["requests"],
  schema,
  aliases: [["rateLimit", "local"]],
  names: [
    "tokensPerSecond",
    "tokensPerMinute",
    "tokensPerHour",
    "tokensPerInterval",
    "perSecond",
    "perMinute",
    "perHour",
    "perInterval",
  ],
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
  resolve: ({ limits }, { diagnostics, route }) => {
    const names = new Map<string, number>();
    const resolved = limits.flatMap((limit): LimitNode[] => {
      const { counts, capacity, refill, interval, origin, needs } = limit;
      if (counts === "tokens" && route.protocol !== "llm") {
        const params = {
          field: "a limit of tokens",
          actsOn: "requests to models",
          found: undefined,
        };
        diagnostics.report("misplaced-field", origin, params);
        return [];
      }
      const missing = [refill, interval].flatMap((part, index) =>
        part === undefined ? [needs[index] ?? ""] : [],
      );
      for (const key of missing) {
        diagnostics.report("missing-field", origin, { owner: "localRateLimit", key });
      }
      if (interval !== undefined && interval < 1) {
        const bound = { field: `"${needs[1]}"`, bound: "is at least 1ms" };
        diagnostics.report("out-of-range", childOf(origin, needs[1]), bound);
        return [];
      }
      const options = { phase: "request", slot: "value" } as const;
      const key = limit.key && resolveExpression(limit.key, options, diagnostics);
      if (refill === undefined || interval === undefined) return [];
      if (limit.key !== undefined && key === undefined) return [];
      const name = nameOf(counts, interval, key !== undefined);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      const unique = count === 1 ? name : `${name}${count}`;
      return [{ name: unique, counts, capacity, refill, interval, key, origin }];
    });
    return resolved.length === limits.length ? { limits: resolved.sort(compareLimits) } : undefined;
  },
};

function lowerLimit(given: Partial<Infer<typeof schema>[number]>, origin: Origin): LimitConfig {
  const key =
    given.key === undefined ? undefined : { text: given.key, origin: childOf(origin, "key") };
  const amount = given.requests ?? given.tokens;
  if (amount !== undefined) {
    const { unit, burst = 0 } = given;
    const counts = given.tokens === undefined ? "requests" : "tokens";
    const interval = unit === undefined ? undefined : UNITS[unit];
    const needs = [counts, "unit"] as const;
    return { counts, capacity: amount + burst, refill: amount, interval, key, origin, needs };
  }
  const interval = given.fillInterval === undefined ? undefined : parseDuration(given.fillInterval);
  const needs = ["tokensPerFill", "fillInterval"] as const;
  return {
    counts: given.type ?? "requests",
    capacity: given.maxTokens ?? 0,
    refill: given.tokensPerFill,
    interval,
    key,
    origin,
    needs,
  };
}

function nameOf(counts: LimitNode["counts"], interval: number, isKeyed: boolean): string {
  const unit = { 1000: "Second", 60000: "Minute", 3600000: "Hour" }[interval] ?? "Interval";
  return `${counts === "tokens" ? "tokensPer" : "per"}${unit}${isKeyed ? "ByKey" : ""}`;
}

/**
 * A request that one limit refuses has taken tokens of those before it: so the caller's own come before everybody's,
 * and those that come back soon before the others.
 */
function compareLimits(a: LimitNode, b: LimitNode): number {
  return Number(b.key !== undefined) - Number(a.key !== undefined) || a.interval - b.interval;
}
