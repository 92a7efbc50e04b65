import { type Exchange, logFields } from "../http/exchange.ts";
import type { CallSpan } from "../http/exchange-trace.ts";
import { grpcStatus, grpcStatusName } from "../http/grpc-status.ts";
import { headerValue } from "../http/headers/header-list.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { calloutDuration, calloutsTotal } from "../metrics/table/callouts.ts";
import type { OnAbort } from "../process/on-abort.ts";
import { SECOND } from "../process/units.ts";

/** The policy that makes the call. */
export type CalloutKind =
  | "extAuthz"
  | "networkExtAuthz"
  | "remoteRateLimit"
  | "extProc"
  | "promptGuard"
  | "responseCache"
  | "mcpGuardrails";

/**
 * `ok`: the request continues; `denied`: the server refused the request; `failed`: no verdict; `cancelled`: the client
 * disconnected.
 */
export type CalloutResult = "ok" | "denied" | "failed" | "cancelled";

/** A call to a server about a request: counted, logged, and a span if the request is traced. */
export class Callout {
  readonly span: CallSpan | undefined;
  readonly #exchange: Exchange;
  readonly #kind: CalloutKind;
  readonly #target: string;
  readonly #started = performance.now();
  #aborts: (() => void)[] = [];
  #isOver = false;

  /** `target`: the server's `host:port`; `span`: the name of the span. */
  constructor(exchange: Exchange, kind: CalloutKind, target: string, span: string) {
    this.#exchange = exchange;
    this.#kind = kind;
    this.#target = target;
    this.span = exchange.trace?.beginCall(span);
  }

  /** The trace headers of the call: a flat list. */
  get metadata(): readonly string[] {
    if (this.span === undefined) return [];
    const state = headerValue(this.#exchange.requestHeaders, "tracestate");
    const own = ["traceparent", this.span.traceparent];
    return state === undefined ? own : [...own, "tracestate", state];
  }

  /** Cancels the callout and its calls (`onAbort`) when its result is no longer needed. */
  cancelWith(onAbort: OnAbort): void {
    onAbort(() => {
      const aborts = this.#aborts;
      this.end("cancelled", "cancelled");
      for (const abort of aborts) abort();
    });
  }

  /** Registers a function that aborts a call. It is dropped when the callout ends, as requests may last long. */
  onAbort(abort: () => void): void {
    if (this.#isOver) abort();
    else this.#aborts.push(abort);
  }

  /** Ends the callout; only the first call counts. `error`: the kind of failure, one of few values. */
  end(result: CalloutResult, error?: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#aborts = [];
    const { record, gateway } = this.#exchange;
    const duration = countCallout(gateway.metrics, {
      kind: this.#kind,
      target: this.#target,
      result,
      started: this.#started,
    });
    logFields(record).set(`${this.#kind}.duration`, `${Math.round(duration)}ms`);
    this.span?.end(error);
  }
}

/** Begins a callout over gRPC, with a span by OpenTelemetry's conventions. */
export function grpcCallout(
  exchange: Exchange,
  kind: CalloutKind,
  target: string,
  { parent, name }: { readonly parent: { readonly typeName: string }; readonly name: string },
): GrpcCallout {
  return new GrpcCallout(exchange, kind, target, parent.typeName, name);
}

class GrpcCallout extends Callout {
  constructor(
    exchange: Exchange,
    kind: CalloutKind,
    target: string,
    service: string,
    method: string,
  ) {
    const name = `${service}/${method}`;
    super(exchange, kind, target, name);
    const colon = target.lastIndexOf(":");
    this.span?.text("rpc.system.name", "grpc");
    this.span?.text("rpc.method", name);
    this.span?.text("server.address", target.slice(0, colon));
    this.span?.number("server.port", Number(target.slice(colon + 1)));
  }

  /** Ends the callout with a gRPC status. */
  endWith(result: CalloutResult, status: number): void {
    const name = grpcStatusName(status);
    this.span?.text("rpc.response.status_code", name);
    this.end(result, status === grpcStatus.ok ? undefined : name);
  }
}

export type { GrpcCallout };

/** Counts a callout that ends now, and returns its duration in milliseconds. `started`: by performance.now(). */
export function countCallout(
  metrics: Metrics,
  {
    kind,
    target,
    result,
    started,
  }: {
    readonly kind: CalloutKind;
    readonly target: string;
    readonly result: CalloutResult;
    readonly started: number;
  },
): number {
  const duration = performance.now() - started;
  metrics.counter(calloutsTotal, kind, target, result).value += 1;
  metrics.histogram(calloutDuration, kind, target).add(duration / SECOND);
  return duration;
}
