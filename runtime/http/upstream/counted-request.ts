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
 * A request to a server over any version of HTTP: its head has a deadline, invalid responses end it, and its end is reported
 * and counted once.
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

  /** `requestTimeout`: milliseconds to the head of the response. `counts`: `undefined` if no gateway runs yet. */
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

  /** Whether the handler gets nothing more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  abort(reason?: AbortReason): void {
    this.#abort(this.#resultOf(reason));
  }

  abstract resume(): void;

  /** Closes what carries the request, or is going to. */
  protected abstract breakOff(): void;

  /** Handles an interim response (1xx). */
  protected onInterim(): void {
    this.#interimResponses += 1;
    if (this.#interimResponses > MAX_INTERIM_RESPONSES) this.giveUp(interimFlood);
  }

  /** Passes on the head of the response, unless its status is invalid. */
  protected onHead(status: number, head: readonly string[] | ReceivedFields): void {
    if (status > MAX_STATUS) {
      this.giveUp(invalidStatus);
      return;
    }
    this.responded(status);
    try {
      this.#give(status, head);
    } catch (error) {
      // The response cannot be forwarded to the client.
      this.giveUp({ kind: "protocol", detail: error instanceof Error ? error.message : "" });
    }
  }

  /** Ends the wait for the head and records its time. */
  protected responded(status: number): void {
    clearTimeout(this.#timer);
    this.#isError = status >= 500;
    this.#counts?.responded(performance.now() - this.#started);
  }

  /** Handles a complete response. */
  protected complete(trailers?: readonly string[]): void {
    this.#over(this.#isError ? "error" : "ok");
    this.handler.onEnd(trailers);
  }

  /** Handles the end of the connection or stream before the response was complete. */
  protected fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#over(failure.kind);
    this.handler.onError(failure);
  }

  /** Aborts the request and reports why to the handler. */
  protected giveUp(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#abort(failure.kind);
    this.handler.onError(failure);
  }

  #give(status: number, head: readonly string[] | ReceivedFields): void {
    if (head instanceof ReceivedFields) deliverHead(this.handler, status, head);
    else this.handler.onHead(status, head);
  }

  /** Returns the result of a response that is no longer wanted. */
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

/** Passes a response's head to the handler: as fields if it takes them, otherwise as a flat list. */
export function deliverHead(
  handler: UpstreamHandler,
  status: number,
  fields: ReceivedFields,
): void {
  if (handler.onFields === undefined) handler.onHead(status, fields.list);
  else handler.onFields(status, fields);
}

/** Result of a request. */
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

/** Counts the requests to one upstream; its counters exist before the first request. */
export class RequestCounts {
  /** Number of requests in flight. */
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

  /** Number of requests that wait for a connection, in all pools of this upstream. */
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

  /** Records the head of a response after so many milliseconds. */
  responded(duration: number): void {
    this.#responseStart.add(duration / SECOND);
  }

  ended(result: RequestResult): void {
    this.active -= 1;
    this.#results[result].value += 1;
  }
}

/** Returns the counts of requests to an upstream, which survive a reload; `undefined` if no gateway runs yet. */
export function requestCounts(upstream: string): RequestCounts | undefined {
  return processMetrics()?.part(UpstreamMetrics).to(upstream);
}
