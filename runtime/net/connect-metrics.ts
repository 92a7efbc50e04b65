import { processMetrics } from "../process/metrics-source.ts";
import { SECOND } from "../process/units.ts";
import type { Sample } from "../telemetry/metrics/family.ts";
import type { Histogram } from "../telemetry/metrics/histogram.ts";
import type { Metrics } from "../telemetry/metrics/metrics.ts";
import {
  upstreamConnectDuration,
  upstreamConnections,
  upstreamConnectionsActive,
} from "../telemetry/metrics/table/upstreams.ts";
import { UpstreamCounts } from "../telemetry/metrics/upstream-counts.ts";

/** Counts the connections to all upstreams. */
class ConnectMetrics extends UpstreamCounts<ConnectCounts> {
  constructor(metrics: Metrics) {
    super((upstream) => new ConnectCounts(metrics, upstream));
    const active = this.reader((counts) => counts.active);
    metrics.read(upstreamConnectionsActive, active);
  }
}

/** Counts the connections to one upstream. */
export class ConnectCounts {
  /** Those that are open. */
  active = 0;
  readonly #ok: Sample;
  readonly #failed: Sample;
  readonly #duration: Histogram;

  constructor(metrics: Metrics, upstream: string) {
    this.#ok = metrics.counter(upstreamConnections, upstream, "ok");
    this.#failed = metrics.counter(upstreamConnections, upstream, "failed");
    this.#duration = metrics.histogram(upstreamConnectDuration, upstream);
  }

  /** It took so many milliseconds until the connection was there. */
  opened(duration: number): void {
    this.active += 1;
    this.#ok.value += 1;
    this.#duration.add(duration / SECOND);
  }

  failed(): void {
    this.#failed.value += 1;
  }

  /** One that was open is no more. Bound: connections have it as their listener. */
  readonly closed = (): void => {
    this.active -= 1;
  };
}

/** The counts of the connections to an upstream, which outlive a reload; undefined: no gateway runs yet. */
export function connectCounts(upstream: string): ConnectCounts | undefined {
  return processMetrics()?.part(ConnectMetrics).to(upstream);
}
