import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { span } from "../../manifests/field-types.ts";
import type { HealthConfig } from "../../model/backend-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { expression, type Infer, integer, object } from "../../schema/schema.ts";
import { activeSchema, HEALTH, panicThreshold, readActive } from "./health.ts";

const eviction = object(
  {
    duration: span(
      "How long a server that failed is not asked: as many times as it was ejected in a row, 5 minutes at most.",
      { default: "3s", minimumDuration: "1s" },
    ),
    restoreHealth: integer("Its health when it returns: 100 is all well.", 0, 100),
    consecutiveFailures: integer(
      "Failures in a row after which that is so; 1 where neither this nor healthThreshold says.",
      1,
      1000,
    ),
    healthThreshold: integer("The health in percent below which that is so.", 0, 100),
  },
  { description: "When a server is not asked, and for how long." },
);

/** `health` of manifests: what responses say, as the reference has it, and checks of the gateway's own. */
export const kubernetesHealth = object(
  {
    unhealthyCondition: expression(
      "Which responses are failures, by status and headers: `response.code == 500`; by default 5xx, and 429 of models. No response, and one that breaks off, always are.",
    ),
    eviction,
    active: activeSchema(span),
    panicThreshold: panicThreshold(),
  },
  { minProperties: 1, description: HEALTH },
);

/** The canonical form of `health` of manifests. */
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

/** Of percent. */
function share(percent: number | undefined): number | undefined {
  return percent === undefined ? undefined : percent / 100;
}
