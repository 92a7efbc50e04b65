import type { CounterMetric, GaugeMetric, HistogramMetric } from "../metric.ts";

const REQUEST_BOUNDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80,
] as const;
const STREAM_BOUNDS = [0.1, 1, 5, 15, 60, 300, 900, 3600, 14_400] as const;

/** `gwc_requests_total` */
export const requestsTotal = {
  kind: "counter",
  name: "gwc_requests_total",
  help: "Finished requests; reason: why the gateway itself responded.",
  labels: ["listener", "route", "method", "status", "reason"],
} as const satisfies CounterMetric;

/** `gwc_labelled_requests_total`; the labels of the configuration follow these. */
export const labelledRequests = {
  kind: "counter",
  name: "gwc_labelled_requests_total",
  help: "Finished requests, with the labels of frontendPolicies.metrics.",
  labels: ["listener", "route", "status"],
} as const satisfies CounterMetric;

/** `gwc_labelled_tokens_total`; the labels of the configuration follow these. */
export const labelledTokens = {
  kind: "counter",
  name: "gwc_labelled_tokens_total",
  help: "Tokens of model calls by type (input, output), with the labels of frontendPolicies.metrics.",
  labels: ["type"],
} as const satisfies CounterMetric;

/** `gwc_labelled_cost_total`; its labels are those of the configuration. */
export const labelledCost = {
  kind: "counter",
  name: "gwc_labelled_cost_total",
  help: "Costs of model calls in US dollars, with the labels of frontendPolicies.metrics.",
  labels: [],
} as const satisfies CounterMetric;

/** `gwc_request_duration_seconds` */
export const requestDuration = {
  kind: "histogram",
  name: "gwc_request_duration_seconds",
  help: "Seconds from a request's head to the end of its response; streams are counted separately.",
  labels: ["listener", "route"],
  bounds: REQUEST_BOUNDS,
} as const satisfies HistogramMetric;

/** `gwc_stream_duration_seconds` */
export const streamDuration = {
  kind: "histogram",
  name: "gwc_stream_duration_seconds",
  help: "Seconds that event streams, upgraded connections and tunnels lasted.",
  labels: ["listener", "route"],
  bounds: STREAM_BOUNDS,
} as const satisfies HistogramMetric;

/** `gwc_requests_active` */
export const requestsActive = {
  kind: "gauge",
  name: "gwc_requests_active",
  help: "Requests and streams in flight.",
  labels: [],
} as const satisfies GaugeMetric;

/** `gwc_malformed_requests_total` */
export const malformedRequests = {
  kind: "counter",
  name: "gwc_malformed_requests_total",
  help: "Requests that are not valid HTTP.",
  labels: [],
} as const satisfies CounterMetric;

/** `gwc_connections_denied_total` */
export const connectionsDenied = {
  kind: "counter",
  name: "gwc_connections_denied_total",
  help: "Connections closed at once because networkAuthorization does not allow the client.",
  labels: [],
} as const satisfies CounterMetric;

/** `gwc_connections_refused_total` */
export const connectionsRefused = {
  kind: "counter",
  name: "gwc_connections_refused_total",
  help: "Connections closed at once because the port had too many.",
  labels: [],
} as const satisfies CounterMetric;
