import type { MetricsPart } from "../process/metrics-part.ts";
import { head, label } from "../telemetry/metrics/exposition-text.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import type { ConnectionRecord } from "./connection.ts";

/** What the connections of one route passed on, by why they ended. */
interface RouteTotals {
  readonly place: string;
  readonly endings: Map<string, number>;
  received: number;
  sent: number;
  seconds: number;
}

/** Counts connections whose bytes are passed on. */
export class ConnectionMetrics implements MetricsPart {
  readonly #routes: Map<string, RouteTotals> = new Map();

  /** The counters of a process: they outlive a reload of the configuration. */
  static of({ parts }: Metrics): ConnectionMetrics {
    for (const part of parts) if (part instanceof ConnectionMetrics) return part;
    const added = new ConnectionMetrics();
    parts.add(added);
    return added;
  }

  /** One has ended; `duration` is in milliseconds. */
  connection(record: ConnectionRecord, duration: number): void {
    const { listener = "unknown", route = "unknown", reason = "", received, sent } = record;
    const place = `listener="${label(listener)}",route="${label(route)}"`;
    let totals = this.#routes.get(place);
    if (totals === undefined) {
      totals = { place, endings: new Map(), received: 0, sent: 0, seconds: 0 };
      this.#routes.set(place, totals);
    }
    totals.endings.set(reason, (totals.endings.get(reason) ?? 0) + 1);
    totals.received += received;
    totals.sent += sent;
    totals.seconds += duration / 1000;
  }

  exposition(): string {
    const routes = [...this.#routes.values()];
    const lines = (name: string, help: string, line: (totals: RouteTotals) => string): string =>
      head(name, "counter", help) + routes.map(line).join("");
    const total = (name: string, help: string, value: (totals: RouteTotals) => number): string =>
      lines(name, help, (totals) => `${name}{${totals.place}} ${value(totals)}\n`);
    const ended = "gwc_downstream_connections_total";
    return (
      lines(ended, "TCP connections that have ended.", ({ place, endings }) =>
        Array.from(
          endings,
          ([reason, count]) => `${ended}{${place},reason="${reason}"} ${count}\n`,
        ).join(""),
      ) +
      total(
        "gwc_downstream_connection_seconds_total",
        "Seconds that they were open.",
        ({ seconds }) => seconds,
      ) +
      total(
        "gwc_downstream_received_bytes_total",
        "Bytes that they brought from clients.",
        ({ received }) => received,
      ) +
      total(
        "gwc_downstream_sent_bytes_total",
        "Bytes that they took to clients.",
        ({ sent }) => sent,
      )
    );
  }
}
