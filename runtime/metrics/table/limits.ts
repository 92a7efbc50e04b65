import type { CounterMetric } from "../metric.ts";

/** `gwc_rate_limited_requests_total` */
export const rateLimited = {
  kind: "counter",
  name: "gwc_rate_limited_requests_total",
  help: "Requests that a rate limit refused; limit: its place in the configuration.",
  labels: ["route", "policy", "limit"],
} as const satisfies CounterMetric;
