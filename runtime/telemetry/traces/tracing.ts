import type { Exchange } from "../../http/exchange.ts";
import type { TelemetryContext } from "../telemetry-context.ts";

/** Decides which requests of a gateway are traced. */
export interface Tracing {
  open(context: TelemetryContext): Tracer;
  /**
   * Continues the trace context in a request's body if its headers have none. Requires that a gateway has opened the
   * tracing.
   */
  continueTrace(exchange: Exchange, sent: SentContext): void;
}

/** A trace context from a message in a request's body. */
export interface SentContext {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

/** Traces the requests of a gateway. */
export interface Tracer {
  /** Decides whether a request is traced, and sets the exchange's trace. */
  begin(exchange: Exchange): void;
}
