import type { Exchange, RefusalReason } from "../http/exchange.ts";
import type { Histogram, Sample } from "../metrics/family.ts";
import type { Metrics } from "../metrics/metrics.ts";
import {
  requestDuration,
  requestsActive,
  requestsTotal,
  streamDuration,
} from "../metrics/table/requests.ts";
import { SECOND } from "../process/units.ts";

/** The methods with a label of their own; all others count as `OTHER`, so that clients cannot create series. */
const METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];

/** Counts the requests of all routes. */
export class RequestMetrics {
  readonly #metrics: Metrics;
  readonly #listeners = new Map<string, Map<string, RouteMetrics>>();
  #active = 0;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.read(requestsActive, () => [[[], this.#active]]);
  }

  /** Counts a new request. */
  began(): void {
    this.#active += 1;
  }

  /**
   * Counts a finished request, after `duration` milliseconds; `status` is `undefined` if the client disconnected before the
   * response.
   */
  ended(exchange: Exchange, status: number | undefined, duration: number): void {
    this.#active -= 1;
    const { record, original } = exchange;
    const route = this.#route(record.listener ?? "unknown", record.route ?? "unknown");
    route.count(original.method, status, record.reason);
    if (isStream(exchange)) route.streams.add(duration / SECOND);
    else route.latency.add(duration / SECOND);
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
      metrics = new RouteMetrics(listener, route, this.#metrics);
      routes.set(route, metrics);
    }
    return metrics;
  }
}

/** Request counts and latencies of one route. */
class RouteMetrics {
  readonly listener: string;
  readonly route: string;
  /** Latencies of requests that are not streams. */
  readonly latency: Histogram;
  readonly #metrics: Metrics;
  /** By method and status, then by reason. */
  readonly #counters = new Map<number, Map<string, Sample>>();
  #streams: Histogram | undefined;

  constructor(listener: string, route: string, metrics: Metrics) {
    this.listener = listener;
    this.route = route;
    this.#metrics = metrics;
    this.latency = metrics.histogram(requestDuration, listener, route);
  }

  /** Durations of streams; created on demand, as most routes have none. */
  get streams(): Histogram {
    this.#streams ??= this.#metrics.histogram(streamDuration, this.listener, this.route);
    return this.#streams;
  }

  count(method: string, status: number | undefined, reason: RefusalReason | undefined): void {
    const methodAt = METHODS.indexOf(method);
    const key = (status ?? 0) * 8 + methodAt + 1;
    let byReason = this.#counters.get(key);
    if (byReason === undefined) {
      byReason = new Map();
      this.#counters.set(key, byReason);
    }
    let counter = byReason.get(reason ?? "");
    if (counter === undefined) {
      const { listener, route } = this;
      const labels = [METHODS[methodAt] ?? "OTHER", String(status ?? "unknown")] as const;
      counter = this.#metrics.counter(requestsTotal, listener, route, ...labels, reason ?? "");
      byReason.set(reason ?? "", counter);
    }
    counter.value += 1;
  }

  /** Returns the number of requests, of those with a status from 500 up, and the refused ones. */
  totals(): RequestTotals {
    let requests = 0;
    let errors = 0;
    const refused: RefusedCount[] = [];
    for (const [key, byReason] of this.#counters) {
      const status = Math.floor(key / 8);
      for (const [reason, { value }] of byReason) {
        requests += value;
        if (status >= 500) errors += value;
        else if (status >= 400) refused.push({ status, reason, requests: value });
      }
    }
    return { requests, errors, refused };
  }
}

/** Totals of the requests of a route. */
export interface RequestTotals {
  readonly requests: number;
  readonly errors: number;
  /** Requests with a status from 400 to 499, by method, status and reason. */
  readonly refused: readonly RefusedCount[];
}

/** Requests of one route that were refused in the same way. */
export interface RefusedCount {
  readonly status: number;
  /** Why the gateway refused them; empty if an upstream did. */
  readonly reason: string;
  readonly requests: number;
}

/**
 * Whether a response is a stream: it lasts as long as the client listens, so its duration does not measure the gateway or
 * the upstream.
 */
function isStream({ responseStatus, responseType, isTunnel }: Exchange): boolean {
  if (responseStatus === 101) return true;
  if (isTunnel) return responseStatus === 200;
  return responseType?.startsWith("text/event-stream") === true;
}
