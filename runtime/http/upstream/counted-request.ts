import type { Histogram, Sample } from "../../metrics/family.ts";
import { type Metrics, UpstreamCounts } from "../../metrics/metrics.ts";
import {
  upstreamRequests,
  upstreamRequestsActive,
  upstreamRequestsQueued,
  upstreamResponseStart,
} from "../../metrics/table/upstreams.ts";
import { processMetrics } from "../../process/offered-values.ts";
import { SECOND } from "../../process/units.ts";
import { ReceivedFields } from "../http1/received-fields.ts";
import type { AbortReason, UpstreamFailure, UpstreamHandler, UpstreamRequest } from "./upstream.ts";
import {
  interimFlood,
  invalidStatus,
  MAX_INTERIM_RESPONSES,
  MAX_STATUS,
  requestTimedOut,
} from "./upstream-failures.ts";

/**
 * A request to a server in whatever version of HTTP: its head has a time to come in, what no server may send ends it, and
 * its end is told and counted once.
 */
export abstract class CountedRequest<Handler extends UpstreamHandler = UpstreamHandler>
  implements UpstreamRequest
{
  protected readonly handler: Handler;
  readonly #counts: RequestCounts | undefined;
  readonly #started = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #interimResponses = 0;
  #isError = false;
  #isOver = false;

  /** `requestTimeout`: milliseconds to the head of the response. `counts`: undefined while nobody counts. */
  constructor(
    handler: Handler,
    requestTimeout: number | undefined,
    counts: RequestCounts | undefined,
  ) {
    this.handler = handler;
    this.#counts = counts;
    counts?.began();
    if (requestTimeout !== undefined) {
      this.#timer = setTimeout(() => this.giveUp(requestTimedOut), requestTimeout);
    }
  }

  /** Nothing more goes to the handler. */
  get isOver(): boolean {
    return this.#isOver;
  }

  abort(reason?: AbortReason): void {
    this.#abort(this.#resultOf(reason));
  }

  abstract resume(): void;

  /** Closes what carries the request, or is to carry it. */
  protected abstract breakOff(): void;

  /** A response came that only announces another one (1xx). */
  protected onInterim(): void {
    this.#interimResponses += 1;
    if (this.#interimResponses > MAX_INTERIM_RESPONSES) this.giveUp(interimFlood);
  }

  /** Passes the head of the response on, unless its status is none. */
  protected onHead(status: number, head: readonly string[] | ReceivedFields): void {
    if (status > MAX_STATUS) {
      this.giveUp(invalidStatus);
      return;
    }
    this.responded(status);
    try {
      this.#give(status, head);
    } catch (error) {
      // What the response says can't be said to the client.
      this.giveUp({ kind: "protocol", detail: error instanceof Error ? error.message : "" });
    }
  }

  /** The server has answered: its time is kept, and the wait is over. */
  protected responded(status: number): void {
    clearTimeout(this.#timer);
    this.#isError = status >= 500;
    this.#counts?.responded(performance.now() - this.#started);
  }

  /** The response is complete. */
  protected complete(trailers?: readonly string[]): void {
    this.#over(this.#isError ? "error" : "ok");
    this.handler.onEnd(trailers);
  }

  /** What carried the request has ended, and no complete response was there. */
  protected fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#over(failure.kind);
    this.handler.onError(failure);
  }

  /** Breaks the request off, for a reason that the handler is told. */
  protected giveUp(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#abort(failure.kind);
    this.handler.onError(failure);
  }

  #give(status: number, head: readonly string[] | ReceivedFields): void {
    if (head instanceof ReceivedFields) deliverHead(this.handler, status, head);
    else this.handler.onHead(status, head);
  }

  /** What a server did that nobody waits for any more. */
  #resultOf(reason: AbortReason | undefined): RequestResult {
    if (reason !== "discarded") return reason ?? "aborted";
    return this.#isError ? "error" : "ok";
  }

  #abort(result: RequestResult): void {
    this.#over(result);
    this.breakOff();
  }

  #over(result: RequestResult): void {
    if (!this.#isOver) this.#counts?.ended(result);
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}

/** Hands a response's head to who wants it: as fields where those are taken so, else as a flat list. */
export function deliverHead(
  handler: UpstreamHandler,
  status: number,
  fields: ReceivedFields,
): void {
  if (handler.onFields === undefined) handler.onHead(status, fields.list);
  else handler.onFields(status, fields);
}

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
