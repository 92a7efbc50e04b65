import { processMetrics } from "../../process/metrics-source.ts";
import { SECOND } from "../../process/units.ts";
import type { Sample } from "../../telemetry/metrics/family.ts";
import type { Histogram } from "../../telemetry/metrics/histogram.ts";
import type { Metrics } from "../../telemetry/metrics/metrics.ts";
import {
  upstreamRequests,
  upstreamRequestsActive,
  upstreamRequestsQueued,
  upstreamResponseStart,
} from "../../telemetry/metrics/table/upstreams.ts";
import { UpstreamCounts } from "../../telemetry/metrics/upstream-counts.ts";
import type { UpstreamFailure } from "./upstream.ts";

/** What became of a request. */
export type RequestResult = "ok" | "error" | "aborted" | UpstreamFailure["kind"];

/** A pool of connections. */
export interface CountedPool {
  readonly stats: { readonly queued: number };
}

/** Counts the requests to all upstreams. */
class UpstreamMetrics extends UpstreamCounts<RequestCounts> {
  constructor(metrics: Metrics) {
    super((upstream) => new RequestCounts(metrics, upstream));
    const active = this.reader((counts) => counts.active);
    const queued = this.reader((counts) => counts.queued);
    metrics.read(upstreamRequestsActive, active);
    metrics.read(upstreamRequestsQueued, queued);
  }
}

/** Counts the requests to one upstream; its counters are made before the first request. */
export class RequestCounts {
  /** Those under way. */
  active = 0;
  readonly #results: Readonly<Record<RequestResult, Sample>>;
  readonly #responseStart: Histogram;
  readonly #pools = new Set<CountedPool>();

  constructor(metrics: Metrics, upstream: string) {
    const of = (result: RequestResult) => metrics.counter(upstreamRequests, upstream, result);
    this.#results = {
      ok: of("ok"),
      error: of("error"),
      aborted: of("aborted"),
      connect: of("connect"),
      timeout: of("timeout"),
      protocol: of("protocol"),
      closed: of("closed"),
    };
    this.#responseStart = metrics.histogram(upstreamResponseStart, upstream);
  }

  /** Those that wait for a connection, in all pools of this upstream. */
  get queued(): number {
    let queued = 0;
    for (const { stats } of this.#pools) queued += stats.queued;
    return queued;
  }

  pool(pool: CountedPool): () => void {
    this.#pools.add(pool);
    return () => this.#pools.delete(pool);
  }

  began(): void {
    this.active += 1;
  }

  /** The head of its response is there, after so many milliseconds. */
  responded(duration: number): void {
    this.#responseStart.add(duration / SECOND);
  }

  ended(result: RequestResult): void {
    this.active -= 1;
    this.#results[result].value += 1;
  }
}

/** The counts of the requests to an upstream, which outlive a reload; undefined: no gateway runs yet. */
export function requestCounts(upstream: string): RequestCounts | undefined {
  return processMetrics()?.part(UpstreamMetrics).to(upstream);
}
