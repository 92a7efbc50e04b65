import type { CounterMetric } from "../metric.ts";

/** `gwc_acme_orders_total` */
export const acmeOrders = {
  kind: "counter",
  name: "gwc_acme_orders_total",
  help: "Certificates that this process ordered from its ACME server; result: issued, or failed.",
  labels: ["result"],
} as const satisfies CounterMetric;
