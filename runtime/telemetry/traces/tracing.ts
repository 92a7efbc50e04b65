import type { Exchange } from "../../http/exchange.ts";
import type { TelemetryContext } from "../telemetry-context.ts";

/** What of the requests of a gateway is traced. */
export interface Tracing {
  open(context: TelemetryContext): Tracer;
  /** Once a gateway has opened it: what a request's body says of its trace, where its headers do not. */
  continueTrace(exchange: Exchange, sent: SentContext): void;
}

/** A context as a client has written it beside its headers. */
export interface SentContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** Traces the requests of a gateway. */
export interface Tracer {
  /** Decides whether a request is traced; its trace is the exchange's from here on. */
  begin(exchange: Exchange): void;
}
