import type { CounterMetric, GaugeMetric, HistogramMetric } from "../metric.ts";

const BOUNDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

/** `gwc_upstream_requests_total` */
export const upstreamRequests = {
  kind: "counter",
  name: "gwc_upstream_requests_total",
  help: "HTTP and WebSocket requests to upstreams; result: ok, error (a status from 500 up), connect, timeout, protocol, closed, or aborted (the client disconnected).",
  labels: ["upstream", "result"],
} as const satisfies CounterMetric;

/** `gwc_upstream_requests_active` */
export const upstreamRequestsActive = {
  kind: "gauge",
  name: "gwc_upstream_requests_active",
  help: "Requests to upstreams in flight.",
  labels: ["upstream"],
} as const satisfies GaugeMetric;

/** `gwc_upstream_requests_queued` */
export const upstreamRequestsQueued = {
  kind: "gauge",
  name: "gwc_upstream_requests_queued",
  help: "Requests that wait for a connection of the pool.",
  labels: ["upstream"],
} as const satisfies GaugeMetric;

/** `gwc_upstream_response_start_seconds` */
export const upstreamResponseStart = {
  kind: "histogram",
  name: "gwc_upstream_response_start_seconds",
  help: "Seconds from a request to an upstream to the head of its response.",
  labels: ["upstream"],
  bounds: BOUNDS,
} as const satisfies HistogramMetric;

/** `gwc_upstream_connections_total` */
export const upstreamConnections = {
  kind: "counter",
  name: "gwc_upstream_connections_total",
  help: "Attempts to connect to upstreams; result: ok or failed.",
  labels: ["upstream", "result"],
} as const satisfies CounterMetric;

/** `gwc_upstream_connections_active` */
export const upstreamConnectionsActive = {
  kind: "gauge",
  name: "gwc_upstream_connections_active",
  help: "Open connections to upstreams.",
  labels: ["upstream"],
} as const satisfies GaugeMetric;

/** `gwc_upstream_connect_duration_seconds` */
export const upstreamConnectDuration = {
  kind: "histogram",
  name: "gwc_upstream_connect_duration_seconds",
  help: "Seconds to connect to an upstream, including DNS and TLS.",
  labels: ["upstream"],
  bounds: BOUNDS,
} as const satisfies HistogramMetric;
