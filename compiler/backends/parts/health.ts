import { compileExpression } from "../../cel/compile.ts";
import { addProblems } from "../../cel/parse/problems.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { span } from "../../manifests/field-types.ts";
import type { ActiveHealthConfig, HealthConfig } from "../../model/backend-policies.ts";
import type { CompiledExpression } from "../../model/expressions.ts";
import { parseTimer } from "../../schema/duration.ts";
import {
  duration,
  expression,
  type Infer,
  inPhase,
  integer,
  list,
  number,
  object,
  text,
} from "../../schema/schema.ts";
import { bothForms, durationOfForms, formFields } from "../../schema/two-forms.ts";
import { FAILED, tolerated } from "./tolerated-expressions.ts";

/** Returns the schema of `health` of LLM providers. */
export function healthSchema() {
  return object(passiveFields(), { minProperties: 1, description: HEALTH });
}

/** Returns the schema of `health` of a backend, which also supports active checks. */
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

/** Returns the schema of `health.active`; `time` returns that of durations in the form. */
function activeSchema(time: typeof duration) {
  return object(
    {
      path: text("Path of the check, relative to the path of the server's address.", {
        pattern: "^/[!-~]*$",
        form: 'a path that begins with "/"',
        default: "/",
      }),
      interval: time("Interval between checks.", {
        default: "10s",
        minimumDuration: "100ms",
      }),
      timeout: time("Timeout of a check.", {
        default: "1s",
        minimumDuration: "1ms",
      }),
      expectedStatuses: list(integer("A status.", 100, 599), {
        minItems: 1,
        maxItems: 32,
        description: "Statuses of a passed check; by default 200 to 299.",
      }),
      unhealthyThreshold: integer(
        "Consecutive failed checks until the server is ejected; the very first check decides alone.",
        1,
        100,
        { default: 3 },
      ),
      healthyThreshold: integer(
        "Consecutive passed checks until the server is used again.",
        1,
        100,
        { default: 2 },
      ),
    },
    {
      description:
        "Checks each server with the gateway's own GET requests, starting with the first request of the route. A failing server gets no client requests until it passes again; passive checks apply as well.",
      examples: [{ path: "/healthz", interval: "5s" }],
    },
  );
}

/** Returns the schema of `health.panicThreshold`. */
export function panicThreshold() {
  return integer(
    "Minimum percentage of healthy servers. Below it, requests go to all servers, so that the few healthy ones are not overloaded. By default, this only happens if no healthy server is left. With several backends, the highest value applies.",
    0,
    100,
  );
}

/** Description of `health`. */
export const HEALTH = "Detects and ejects failing servers or LLM providers, if there are several.";

/** Condition for failed responses: `unhealthyExpression` in files, `unhealthyCondition` in manifests. */
const unhealthy = inPhase(
  "response",
  expression(
    "Condition for failed responses, by status and headers: `response.code == 500`. By default 5xx, and 429 from LLM providers. Missing and incomplete responses are always failures.",
  ),
);

/** Fields of `eviction`. Health is a fraction in files, and a percentage in manifests, as in the reference. */
const evictionFields = {
  duration: durationOfForms(
    "How long a failing server is ejected, multiplied by the number of consecutive ejections, up to 5 minutes. A 429 from an LLM provider sets its own duration. If no server is left, requests go to all of them.",
    {},
    {
      file: { default: "10s", minimumDuration: "1ms" },
      manifest: { default: "3s", minimumDuration: "1s" },
    },
  ),
  restoreHealth: {
    file: number("Health of the server when it returns, from 0 to 1.", 0, 1),
    manifest: integer("Health of the server when it returns, in percent.", 0, 100),
  },
  consecutiveFailures: bothForms(
    integer("Consecutive failures until the server is ejected.", 1, 1000),
    {
      file: { default: 1 },
      manifest: {
        description:
          "Consecutive failures until the server is ejected; 1 if healthThreshold is not set either.",
      },
    },
  ),
  healthThreshold: {
    file: number("Health below which the server is ejected, from 0 to 1.", 0, 1),
    manifest: integer("Health in percent below which the server is ejected.", 0, 100),
  },
};

const EVICTION = { description: "When a server is ejected, and for how long." };

/** Returns the schemas of passive checks in files, which are based on responses to clients' requests. */
function passiveFields() {
  return {
    unhealthyExpression: unhealthy,
    eviction: object(formFields("file", evictionFields), EVICTION),
  };
}

/** Schema of `health` in manifests. */
export const kubernetesHealth = object(
  {
    unhealthyCondition: unhealthy,
    eviction: object(formFields("manifest", evictionFields), EVICTION),
    active: activeSchema(span),
    panicThreshold: panicThreshold(),
  },
  { minProperties: 1, description: HEALTH },
);

/** Reads `health` of manifests. */
export function readKubernetesHealth(
  { unhealthyCondition, eviction = {}, ...rest }: Infer<typeof kubernetesHealth>,
  origin: Origin,
): HealthConfig {
  const { duration = "3s", restoreHealth, healthThreshold } = eviction;
  const health = {
    ...eviction,
    duration,
    ...(restoreHealth !== undefined && { restoreHealth: restoreHealth / 100 }),
    ...(healthThreshold !== undefined && { healthThreshold: healthThreshold / 100 }),
  };
  return {
    ...readHealth({ ...rest, eviction: health }, origin),
    ...(unhealthyCondition !== undefined && {
      unhealthy: { text: unhealthyCondition, origin: childOf(origin, "unhealthyCondition") },
    }),
  };
}

type HealthValue = Infer<ReturnType<typeof serverHealthSchema>>;

/** Converts a validated `health` to canonical form. */
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

/** Converts a validated `health.active` to canonical form. */
function readActive({
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

/** Conditions of ejection, complete; times in milliseconds. */
export interface HealthNode extends Pick<HealthConfig, "active" | "panicThreshold"> {
  readonly eviction: number;
  readonly consecutiveFailures: number | undefined;
  readonly healthThreshold: number | undefined;
  readonly restoreHealth: number | undefined;
  /** Condition on the status and headers of a response. */
  readonly unhealthy: (CompiledExpression & { readonly origin: Origin }) | undefined;
}

/** Default duration of an ejection, in milliseconds. */
const DEFAULT_EVICTION = 10_000;

/** Resolves the conditions of ejection of one of several servers and reports mistakes. */
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
    unhealthy: health?.unhealthy && toleratedUnhealthy(health.unhealthy, diagnostics),
  };
}

/** Resolves the condition of failures; the default applies instead of one whose mistakes are tolerated. */
function toleratedUnhealthy(
  config: NonNullable<HealthConfig["unhealthy"]>,
  diagnostics: Diagnostics,
): HealthNode["unhealthy"] {
  const found = tolerated(config.origin, diagnostics, (own) => resolveUnhealthy(config, own));
  return found === FAILED ? undefined : found;
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

/** Describes when a server is ejected. */
export function restText(health: HealthNode): string {
  const { eviction, consecutiveFailures: failures, healthThreshold } = health;
  const causes = [
    ...(failures === undefined ? [] : [failures === 1 ? "a failure" : `${failures} failures`]),
    ...(healthThreshold === undefined ? [] : [`health below ${healthThreshold}`]),
  ];
  const checks = health.active === undefined ? "" : `, or while ${health.active.path} fails`;
  return `ejected for ${eviction / 1000} s after ${causes.join(" or ")}${checks}`;
}
