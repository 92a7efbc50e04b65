import type { CounterMetric, GaugeMetric } from "../metric.ts";

/** `gwc_store_up` */
export const storeUp = {
  kind: "gauge",
  name: "gwc_store_up",
  merged: "same",
  help: "1 if the store (config.store) responds, 0 if not; absent without a store that replicas share.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_store_errors_total` */
export const storeErrors = {
  kind: "counter",
  name: "gwc_store_errors_total",
  help: "Commands that the store refused or did not respond to.",
  labels: [],
} as const satisfies CounterMetric;

/** `gwc_store_fallbacks_total` */
export const storeFallbacks = {
  kind: "counter",
  name: "gwc_store_fallbacks_total",
  help: "Decisions while the store did not respond: `local` by what the replica knows, `closed` with 503, `open` without a limit.",
  labels: ["decision"],
} as const satisfies CounterMetric;
