import type { CounterMetric } from "../metric.ts";

/** `gwc_otlp_exported_total` */
export const otlpExported = {
  kind: "counter",
  name: "gwc_otlp_exported_total",
  help: "Spans and log records that a collector accepted.",
  labels: ["signal"],
} as const satisfies CounterMetric;

/** `gwc_otlp_dropped_total` */
export const otlpDropped = {
  kind: "counter",
  name: "gwc_otlp_dropped_total",
  help: "Spans and log records that were dropped or rejected.",
  labels: ["signal"],
} as const satisfies CounterMetric;
