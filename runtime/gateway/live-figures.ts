import type { Metrics } from "../metrics/metrics.ts";
import { hasServerStates, type ServerState } from "../process/server-states.ts";
import { RequestMetrics, type RequestTotals } from "../telemetry/request-metrics.ts";

/** Number of requests of one route. */
export interface RouteCount extends RequestTotals {
  readonly listener: string;
  readonly route: string;
  /** Median and 99th percentile of request durations in seconds, estimated from the histogram. */
  readonly p50: number;
  readonly p99: number;
}

/** Returns the requests of each route since the process started. */
export function routeCounts(metrics: Metrics): readonly RouteCount[] {
  return Array.from(metrics.part(RequestMetrics).routes(), (counted) => {
    const { listener, route, latency } = counted;
    const [p50, p99] = [latency.quantile(0.5), latency.quantile(0.99)];
    return { listener, route, ...counted.totals(), p50, p99 };
  });
}

/** Returns the state of the servers that routes choose from, as far as requests were sent to them. */
export function serverStates(metrics: Metrics): readonly ServerState[] {
  return Array.from(metrics.parts()).flatMap((part) =>
    hasServerStates(part) ? part.servers() : [],
  );
}
