import type { CounterMetric, GaugeMetric } from "../metric.ts";

/** `gwc_certificate_expiry_timestamp_seconds` */
export const certificateExpiry = {
  kind: "gauge",
  name: "gwc_certificate_expiry_timestamp_seconds",
  merged: "min",
  help: "Expiry of a listener's certificate, since the epoch.",
  labels: ["hostname", "file"],
} as const satisfies GaugeMetric;

/** `gwc_downstream_tls_handshakes_total` */
export const tlsHandshakes = {
  kind: "counter",
  name: "gwc_downstream_tls_handshakes_total",
  help:
    "TLS handshakes of clients; result: ok, no-client-certificate, client-certificate (refused), server-certificate " +
    "(the client does not trust it), version, cipher, alpn, not-tls, timeout, closed or other.",
  labels: ["port", "result"],
} as const satisfies CounterMetric;
