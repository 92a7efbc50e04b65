import type { CounterMetric } from "../metric.ts";

/** `gwc_downstream_connections_total` */
export const connectionsTotal = {
  kind: "counter",
  name: "gwc_downstream_connections_total",
  help: "Closed TCP connections.",
  labels: ["listener", "route", "reason"],
} as const satisfies CounterMetric;

/** `gwc_downstream_connection_seconds_total` */
export const connectionSeconds = {
  kind: "counter",
  name: "gwc_downstream_connection_seconds_total",
  help: "Seconds that TCP connections were open.",
  labels: ["listener", "route"],
} as const satisfies CounterMetric;

/** `gwc_downstream_received_bytes_total` */
export const receivedBytes = {
  kind: "counter",
  name: "gwc_downstream_received_bytes_total",
  help: "Bytes received from clients on TCP connections.",
  labels: ["listener", "route"],
} as const satisfies CounterMetric;

/** `gwc_downstream_sent_bytes_total` */
export const sentBytes = {
  kind: "counter",
  name: "gwc_downstream_sent_bytes_total",
  help: "Bytes sent to clients on TCP connections.",
  labels: ["listener", "route"],
} as const satisfies CounterMetric;
