import type { CounterMetric, HistogramMetric } from "../metric.ts";

/** `gwc_guard_checks_total`; `guard` is the guard's index in the configuration and its kind: `2.webhook`. */
export const guardChecks = {
  kind: "counter",
  name: "gwc_guard_checks_total",
  help: "Requests and responses that a guard checked, by its action.",
  labels: ["phase", "guard", "action"],
} as const satisfies CounterMetric;

/** `gwc_guard_duration_seconds` */
export const guardDuration = {
  kind: "histogram",
  name: "gwc_guard_duration_seconds",
  help: "Seconds that a guard took to check a request or response.",
  labels: ["phase", "guard"],
  bounds: [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
} as const satisfies HistogramMetric;
