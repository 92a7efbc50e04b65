import type { CounterMetric } from "../metric.ts";

/** `gwc_custom_policy_calls_total` */
export const customPolicyCalls = {
  kind: "counter",
  name: "gwc_custom_policy_calls_total",
  help: "Calls of hooks of custom policies; result: ok, refused, failed (the hook threw, or returned something invalid), or timeout.",
  labels: ["policy", "hook", "result"],
} as const satisfies CounterMetric;

/** `gwc_custom_policy_blocked_total` */
export const customPolicyBlocked = {
  kind: "counter",
  name: "gwc_custom_policy_blocked_total",
  help: "Calls of hooks of custom policies that blocked all requests of the process for more than 50 ms.",
  labels: ["policy", "hook"],
} as const satisfies CounterMetric;
