import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { span } from "../../manifests/field-types.ts";
import type { HealthConfig } from "../../model/backend-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { expression, type Infer, integer, object } from "../../schema/schema.ts";
import { activeSchema, HEALTH, panicThreshold, readActive } from "./health.ts";

const eviction = object(
  {
    duration: span(
      "How long a failing server is ejected, multiplied by the number of consecutive ejections, up to 5 minutes.",
      { default: "3s", minimumDuration: "1s" },
    ),
    restoreHealth: integer("Health of the server when it returns, in percent.", 0, 100),
    consecutiveFailures: integer(
      "Consecutive failures until the server is ejected; 1 if healthThreshold is not set either.",
      1,
      1000,
    ),
    healthThreshold: integer("Health in percent below which the server is ejected.", 0, 100),
  },
  { description: "When a server is ejected, and for how long." },
);

/**
 * Schema of `health` in manifests: passive checks on responses, as in the reference, and active checks by the
 * gateway.
 */
export const kubernetesHealth = object(
  {
    unhealthyCondition: expression(
      "Condition for failed responses, by status and headers: `response.code == 500`. By default 5xx, and 429 from LLM providers. Missing and incomplete responses are always failures.",
    ),
    eviction,
    active: activeSchema(span),
    panicThreshold: panicThreshold(),
  },
  { minProperties: 1, description: HEALTH },
);

/** Reads `health` of manifests. */
export function readKubernetesHealth(
  { unhealthyCondition, eviction = {}, active, panicThreshold }: Infer<typeof kubernetesHealth>,
  origin: Origin,
): HealthConfig {
  const { duration = "3s", restoreHealth, consecutiveFailures, healthThreshold } = eviction;
  return {
    unhealthy:
      unhealthyCondition === undefined
        ? undefined
        : { text: unhealthyCondition, origin: childOf(origin, "unhealthyCondition") },
    eviction: parseTimer(duration),
    restoreHealth: share(restoreHealth),
    consecutiveFailures,
    healthThreshold: share(healthThreshold),
    active: active && readActive(active),
    panicThreshold,
    origin,
  };
}

/** Converts percent to a fraction. */
function share(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100;
}
