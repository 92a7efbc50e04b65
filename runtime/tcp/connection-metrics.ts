import type { Sample } from "../metrics/family.ts";
import type { Metrics } from "../metrics/metrics.ts";
import {
  connectionSeconds,
  connectionsTotal,
  receivedBytes,
  sentBytes,
} from "../metrics/table/connections.ts";
import { SECOND } from "../process/units.ts";
import type { ConnectionRecord } from "./connection.ts";

/** Counts forwarded connections. */
export class ConnectionMetrics {
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /** Counts an ended connection; `duration` is in milliseconds. */
  connection(record: ConnectionRecord, duration: number): void {
    const { listener = "unknown", route = "unknown", reason = "", received, sent } = record;
    const add = (counter: Sample, amount: number) => {
      counter.value += amount;
    };
    add(this.#metrics.counter(connectionsTotal, listener, route, reason), 1);
    add(this.#metrics.counter(connectionSeconds, listener, route), duration / SECOND);
    add(this.#metrics.counter(receivedBytes, listener, route), received);
    add(this.#metrics.counter(sentBytes, listener, route), sent);
  }
}
