import type { CounterMetric } from "../metric.ts";

/** `gwc_rate_limited_requests_total` */
export const rateLimited = {
  kind: "counter",
  name: "gwc_rate_limited_requests_total",
  help: "Requests that a rate limit refused; limit: where the configuration has it.",
  labels: ["route", "policy", "limit"],
} as const satisfies CounterMetric;
