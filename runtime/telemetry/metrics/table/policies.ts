import type { CounterMetric, HistogramMetric } from "../metric.ts";

const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2] as const;

/** `gwc_callouts_total` */
export const calloutsTotal = {
  kind: "counter",
  name: "gwc_callouts_total",
  help: "Questions to servers of policies; kind: extAuthz, remoteRateLimit, extProc; result: ok, denied, or failed.",
  labels: ["kind", "target", "result"],
} as const satisfies CounterMetric;

/** `gwc_callout_duration_seconds` */
export const calloutDuration = {
  kind: "histogram",
  name: "gwc_callout_duration_seconds",
  help: "Seconds that questions to servers of policies took.",
  labels: ["kind", "target"],
  bounds,
} as const satisfies HistogramMetric;

/** `gwc_rate_limited_requests_total` */
export const rateLimited = {
  kind: "counter",
  name: "gwc_rate_limited_requests_total",
  help: "Requests that a rate limit refused; limit: where the configuration has it.",
  labels: ["route", "policy", "limit"],
} as const satisfies CounterMetric;

/** `gwc_guard_checks_total` */
export const guardChecks = {
  kind: "counter",
  name: "gwc_guard_checks_total",
  help: "Requests and responses that guards saw.",
  labels: ["phase", "action"],
} as const satisfies CounterMetric;
