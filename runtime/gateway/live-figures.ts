import type { Metrics } from "../metrics/metrics.ts";
import { hasServerStates, type ServerState } from "../process/server-states.ts";
import { RequestMetrics, type RequestTotals } from "../telemetry/request-metrics.ts";

/** Requests of one route. */
export interface RouteCount extends RequestTotals {
  readonly listener: string;
  readonly route: string;
  /** Seconds that half of the requests, and 99 of 100, took at most; estimated from the histogram. */
  readonly p50: number;
  readonly p99: number;
}

/** What each route has answered since the process started. */
export function routeCounts(metrics: Metrics): readonly RouteCount[] {
  return Array.from(metrics.part(RequestMetrics).routes(), (counted) => {
    const { listener, route, latency } = counted;
    const [p50, p99] = [latency.quantile(0.5), latency.quantile(0.99)];
    return { listener, route, ...counted.totals(), p50, p99 };
  });
}

/** How the servers do that routes choose from, as far as they were asked. */
export function serverStates(metrics: Metrics): readonly ServerState[] {
  return Array.from(metrics.parts()).flatMap((part) =>
    hasServerStates(part) ? part.servers() : [],
  );
}
