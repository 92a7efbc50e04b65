import { compileExpression } from "../../cel/compile.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ActiveHealthConfig, HealthConfig } from "../../model/backend-policies.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { parseTimer } from "../../schema/duration.ts";
import {
  duration,
  expression,
  type Infer,
  integer,
  list,
  number,
  object,
  text,
} from "../../schema/schema.ts";

/** `health` of models. */
export function healthSchema() {
  return object(passiveFields(), { minProperties: 1, description: HEALTH });
}

/** `health` of a backend, which may be a server: it can be asked how it does. */
export function serverHealthSchema() {
  return object(
    {
      ...passiveFields(),
      active: activeSchema(duration),
      panicThreshold: panicThreshold(),
    },
    { minProperties: 1, description: HEALTH },
  );
}

/** `health.active`; `time`: how a form writes durations. */
export function activeSchema(time: typeof duration) {
  return object(
    {
      path: text("What is asked for, below the path of the server's address.", {
        pattern: "^/[!-~]*$",
        form: 'a path that begins with "/"',
        default: "/",
      }),
      interval: time("From one check to the next one.", {
        default: "10s",
        minimumDuration: "100ms",
      }),
      timeout: time("How long a response may take.", {
        default: "1s",
        minimumDuration: "1ms",
      }),
      expectedStatuses: list(integer("A status.", 100, 599), {
        minItems: 1,
        maxItems: 32,
        description: "What it says when it does well. By default 200 to 299.",
      }),
      unhealthyThreshold: integer(
        "Checks in a row that fail before it is not asked any more; the very first one decides alone.",
        1,
        100,
        { default: 3 },
      ),
      healthyThreshold: integer(
        "Checks in a row that it passes before it is asked again.",
        1,
        100,
        { default: 2 },
      ),
    },
    {
      description:
        "Asks each server how it does with requests of the gateway's own (GET), from the first request of the route on. One that fails them is not asked by clients until it passes them again, besides what its own responses say.",
      examples: [{ path: "/healthz", interval: "5s" }],
    },
  );
}

/** `health.panicThreshold`. */
export function panicThreshold() {
  return integer(
    "Percent of the servers: when fewer are left, all are asked, so that those few don't break down. By default only when none is left. Of several backends the highest counts.",
    0,
    100,
  );
}

/** What `health` is for. */
export const HEALTH =
  "How one of several servers or providers of models that fails is told from others.";

/** What responses to requests of clients say. */
function passiveFields() {
  return {
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
  };
}

type HealthValue = Infer<ReturnType<typeof serverHealthSchema>>;

/** The canonical form of a validated `health`. */
export function readHealth(value: HealthValue, origin: Origin): HealthConfig {
  const { unhealthyExpression: text, eviction = {}, active, panicThreshold } = value;
  return {
    unhealthy:
      text === undefined ? undefined : { text, origin: childOf(origin, "unhealthyExpression") },
    eviction: eviction.duration === undefined ? undefined : parseTimer(eviction.duration),
    restoreHealth: eviction.restoreHealth,
    consecutiveFailures: eviction.consecutiveFailures,
    healthThreshold: eviction.healthThreshold,
    active: active && readActive(active),
    panicThreshold,
    origin,
  };
}

/** The canonical form of a validated `health.active`. */
export function readActive({
  path = "/",
  interval = "10s",
  timeout = "1s",
  expectedStatuses,
  unhealthyThreshold = 3,
  healthyThreshold = 2,
}: NonNullable<HealthValue["active"]>): ActiveHealthConfig {
  return {
    path,
    interval: parseTimer(interval) ?? 0,
    timeout: parseTimer(timeout) ?? 0,
    expectedStatuses,
    unhealthyThreshold,
    healthyThreshold,
  };
}

/** When a server is left alone, complete; times in milliseconds. */
export interface HealthNode extends Pick<HealthConfig, "active" | "panicThreshold"> {
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
    active: health?.active,
    panicThreshold: health?.panicThreshold,
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
  const checks = health.active === undefined ? "" : `, nor while ${health.active.path} fails`;
  return `not asked for ${eviction / 1000} s after ${causes.join(" or ")}${checks}`;
}
