import type { Exchange, RefusalReason } from "../../http/exchange.ts";
import type { MetricsPart } from "../../process/metrics-part.ts";

/** Upper bounds of the latency histogram, in seconds. */
export const latencyBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80,
];

/** The labels of one request counter. */
export interface RequestLabels {
  readonly method: string;
  /** `200`; `unknown` when the client left unanswered. */
  readonly status: string;
  /** Why the gateway answered itself; empty for an upstream's response. */
  readonly reason: RefusalReason | "";
}

/** The methods that are labels of their own; every other one is `OTHER`: a client can't make new series. */
const methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];

/** Requests and latencies of one route. */
export class RouteMetrics {
  readonly listener: string;
  readonly route: string;
  /** Requests in each bucket of `latencyBounds`, then those above. */
  readonly buckets = new Float64Array(latencyBounds.length + 1);
  /** Sum of all latencies, in seconds. */
  sum = 0;
  readonly #series: Map<number, Map<string, RequestCounter>> = new Map();

  constructor(listener: string, route: string) {
    this.listener = listener;
    this.route = route;
  }

  /** `duration` is in milliseconds. */
  count(
    method: string,
    status: number | undefined,
    reason: RefusalReason | undefined,
    duration: number,
  ): void {
    const seconds = duration / 1000;
    let bucket = 0;
    while (bucket < latencyBounds.length && seconds > (latencyBounds[bucket] ?? 0)) bucket += 1;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
    this.sum += seconds;
    this.#counter(method, status, reason ?? "").value += 1;
  }

  /**
   * Seconds within which a share (0..1) of the requests ended: linear within a bucket, as Prometheus estimates it; 0
   * before the first request, the last bound for what lies above.
   */
  quantile(share: number): number {
    const rank = this.buckets.reduce((sum, count) => sum + count, 0) * share;
    let below = 0;
    for (let bucket = 0; bucket < latencyBounds.length; bucket++) {
      const count = this.buckets[bucket] ?? 0;
      const [from, to] = [latencyBounds[bucket - 1] ?? 0, latencyBounds[bucket] ?? 0];
      if (below + count >= rank)
        return count === 0 ? from : from + ((to - from) * (rank - below)) / count;
      below += count;
    }
    return latencyBounds.at(-1) ?? 0;
  }

  /** Every counter that has counted. */
  *counters(): Iterable<RequestCounter> {
    for (const byReason of this.#series.values()) yield* byReason.values();
  }

  #counter(method: string, status: number | undefined, reason: RefusalReason | ""): RequestCounter {
    const methodAt = methods.indexOf(method);
    const key = (status ?? 0) * 8 + methodAt + 1;
    let byReason = this.#series.get(key);
    if (byReason === undefined) {
      byReason = new Map();
      this.#series.set(key, byReason);
    }
    let counter = byReason.get(reason);
    if (counter === undefined) {
      const statusText = status === undefined ? "unknown" : String(status);
      counter = { method: methods[methodAt] ?? "OTHER", status: statusText, reason, value: 0 };
      byReason.set(reason, counter);
    }
    return counter;
  }
}

/** How many requests of one kind a route had. */
export interface RequestCounter extends RequestLabels {
  value: number;
}

/** What one gateway process counts. It outlives a reload of the configuration, as counters must. */
export class Metrics {
  /** Requests that the parser refused. */
  malformed = 0;
  /** Connections that were closed at once, because the port had as many as it may have. */
  refused = 0;
  readonly parts: Set<MetricsPart> = new Set();
  readonly #listeners: Map<string, Map<string, RouteMetrics>> = new Map();

  /** Counts one ended request; `duration` is in milliseconds. */
  request(exchange: Exchange, status: number | undefined, duration: number): void {
    const { record } = exchange;
    this.#route(record.listener ?? "unknown", record.route ?? "unknown").count(
      exchange.original.method,
      status,
      record.reason,
      duration,
    );
  }

  *routes(): Iterable<RouteMetrics> {
    for (const routes of this.#listeners.values()) yield* routes.values();
  }

  #route(listener: string, route: string): RouteMetrics {
    let routes = this.#listeners.get(listener);
    if (routes === undefined) {
      routes = new Map();
      this.#listeners.set(listener, routes);
    }
    let metrics = routes.get(route);
    if (metrics === undefined) {
      metrics = new RouteMetrics(listener, route);
      routes.set(route, metrics);
    }
    return metrics;
  }
}
