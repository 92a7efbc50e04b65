import type { CounterMetric } from "../metric.ts";

/** `gwc_guard_checks_total` */
export const guardChecks = {
  kind: "counter",
  name: "gwc_guard_checks_total",
  help: "Requests and responses that guards saw.",
  labels: ["phase", "action"],
} as const satisfies CounterMetric;
