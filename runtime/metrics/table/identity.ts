import type { GaugeMetric } from "../metric.ts";

/** `gwc_identity_expiry_timestamp_seconds` */
export const identityExpiry = {
  kind: "gauge",
  name: "gwc_identity_expiry_timestamp_seconds",
  merged: "min",
  help: "Expiry of the gateway's own identity (SPIFFE), since the epoch.",
  labels: ["spiffe_id"],
} as const satisfies GaugeMetric;

/** `gwc_identity_start_timestamp_seconds` */
export const identityStart = {
  kind: "gauge",
  name: "gwc_identity_start_timestamp_seconds",
  merged: "min",
  help: "Start of validity of the gateway's own identity (SPIFFE), since the epoch.",
  labels: ["spiffe_id"],
} as const satisfies GaugeMetric;
