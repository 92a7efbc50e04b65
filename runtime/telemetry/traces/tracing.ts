import type { Exchange } from "../../http/exchange.ts";
import type { TelemetryContext } from "../telemetry-context.ts";

/** What of the requests of a gateway is traced, before it runs. */
export interface Tracing {
  open(context: TelemetryContext): Tracer;
}

/** Traces the requests of a gateway. */
export interface Tracer {
  /** Decides whether a request is traced; its trace is the exchange's from here on. */
  begin(exchange: Exchange): void;
}
