import type { GaugeMetric } from "../metric.ts";

/** `gwc_mesh_certificate_expiry_timestamp_seconds` */
export const meshCertificateExpiry = {
  kind: "gauge",
  name: "gwc_mesh_certificate_expiry_timestamp_seconds",
  merged: "least",
  help: "When the gateway's own certificate of its mesh expires, since the epoch.",
  labels: ["trust_domain"],
} as const satisfies GaugeMetric;

/** `gwc_mesh_certificate_start_timestamp_seconds` */
export const meshCertificateStart = {
  kind: "gauge",
  name: "gwc_mesh_certificate_start_timestamp_seconds",
  merged: "least",
  help: "Since when the gateway's own certificate of its mesh is valid, since the epoch.",
  labels: ["trust_domain"],
} as const satisfies GaugeMetric;
