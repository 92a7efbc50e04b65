import type { GaugeMetric } from "../metric.ts";

/** `gwc_certificate_expiry_timestamp_seconds` */
export const certificateExpiry = {
  kind: "gauge",
  name: "gwc_certificate_expiry_timestamp_seconds",
  merged: "least",
  help: "When a certificate of a listener expires, since the epoch.",
  labels: ["hostname", "file"],
} as const satisfies GaugeMetric;
