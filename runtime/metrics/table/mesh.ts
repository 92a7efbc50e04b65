import type { GaugeMetric } from "../metric.ts";

/** `gwc_mesh_certificate_expiry_timestamp_seconds` */
export const meshCertificateExpiry = {
  kind: "gauge",
  name: "gwc_mesh_certificate_expiry_timestamp_seconds",
  merged: "min",
  help: "Expiry of the gateway's own mesh certificate, since the epoch.",
  labels: ["trust_domain"],
} as const satisfies GaugeMetric;

/** `gwc_mesh_certificate_start_timestamp_seconds` */
export const meshCertificateStart = {
  kind: "gauge",
  name: "gwc_mesh_certificate_start_timestamp_seconds",
  merged: "min",
  help: "Start of validity of the gateway's own mesh certificate, since the epoch.",
  labels: ["trust_domain"],
} as const satisfies GaugeMetric;
