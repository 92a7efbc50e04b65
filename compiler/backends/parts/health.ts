import { compileExpression } from "../../cel/compile.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { HealthConfig } from "../../model/backend-policies.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { parseTimer } from "../../schema/duration.ts";
import { duration, expression, type Infer, integer, number, object } from "../../schema/schema.ts";

/** `health` of a file. */
export function healthSchema() {
  return object(
    {
      unhealthyExpression: expression(
        "Which responses are failures, by status and headers: `response.code == 500`; by default 5xx, and 429 of models. No response, and one that breaks off, always are.",
      ),
      eviction: object(
        {
          duration: duration(
            "How long a server that failed is not asked: as many times as it was ejected in a row, 5 minutes at most. A 429 of a model says itself how long. When none is left, all are asked.",
            { default: "10s", minimumDuration: "1ms" },
          ),
          restoreHealth: number("Its health when it returns: 1 is all well.", 0, 1),
          consecutiveFailures: integer("Failures in a row after which that is so.", 1, 1000, {
            default: 1,
          }),
          healthThreshold: number("The health below which that is so.", 0, 1),
        },
        { description: "When a server is not asked, and for how long." },
      ),
    },
    {
      minProperties: 1,
      description:
        "How one of several servers or providers of models that fails is told from others.",
    },
  );
}

type HealthValue = Infer<ReturnType<typeof healthSchema>>;

/** The canonical form of a validated `health`. */
export function readHealth(value: HealthValue, origin: Origin): HealthConfig {
  const { unhealthyExpression: text, eviction = {} } = value;
  return {
    unhealthy:
      text === undefined ? undefined : { text, origin: childOf(origin, "unhealthyExpression") },
    eviction: eviction.duration === undefined ? undefined : parseTimer(eviction.duration),
    restoreHealth: eviction.restoreHealth,
    consecutiveFailures: eviction.consecutiveFailures,
    healthThreshold: eviction.healthThreshold,
    origin,
  };
}

/** When a server is left alone, complete; times in milliseconds. */
export interface HealthNode {
  readonly eviction: number;
  readonly consecutiveFailures: number | undefined;
  readonly healthThreshold: number | undefined;
  readonly restoreHealth: number | undefined;
  /** Over the head of a response. */
  readonly unhealthy: (CompiledExpression & { readonly origin: Origin }) | undefined;
}

/** Milliseconds for which a server is not asked unless the configuration says. */
const DEFAULT_EVICTION = 10_000;

/** What holds for a server that is one of several; mistakes are reported. */
export function resolveHealth(
  health: HealthConfig | undefined,
  diagnostics: Diagnostics,
): HealthNode {
  const { healthThreshold, restoreHealth } = health ?? {};
  const isByCount = healthThreshold === undefined;
  return {
    eviction: health?.eviction ?? DEFAULT_EVICTION,
    consecutiveFailures: health?.consecutiveFailures ?? (isByCount ? 1 : undefined),
    healthThreshold,
    restoreHealth,
    unhealthy: health?.unhealthy && resolveUnhealthy(health.unhealthy, diagnostics),
  };
}

function resolveUnhealthy(
  { text, origin }: NonNullable<HealthConfig["unhealthy"]>,
  diagnostics: Diagnostics,
): HealthNode["unhealthy"] {
  const { expression: compiled, problems } = compileExpression(text, {
    phase: "response",
    slot: "filter",
  });
  addProblems(problems, origin, diagnostics);
  const readsMore = compiled?.variables.some((each) => each !== "response");
  const readsBody = compiled?.reads.some(([root, part]) => root === "response" && part === "body");
  if (readsMore !== true && readsBody !== true) return compiled && { ...compiled, origin };
  diagnostics.report("health-reads", origin, {});
  return undefined;
}

/** When a server is not asked, in words. */
export function restText(health: HealthNode): string {
  const { eviction, consecutiveFailures: failures, healthThreshold } = health;
  const causes = [
    ...(failures === undefined ? [] : [failures === 1 ? "a failure" : `${failures} failures`]),
    ...(healthThreshold === undefined ? [] : [`health below ${healthThreshold}`]),
  ];
  return `not asked for ${eviction / 1000} s after ${causes.join(" or ")}`;
}
