import type { Exchange } from "../../http/exchange.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { ExportQueue } from "../otlp/export-queue.ts";

/** What of the requests of a gateway is traced, before it runs. */
export interface Tracing {
  open(context: TelemetryContext): Tracer;
}

/** Where telemetry is made. */
export interface TelemetryContext {
  /** The gateway's name. */
  readonly name: string;
  readonly gateway: GatewayContext;
  /** The queues that hold something: they are flushed before the process ends. */
  readonly pending: Set<ExportQueue>;
}

/** Traces the requests of a gateway. */
export interface Tracer {
  /** Decides whether a request is traced; its trace is the exchange's from here on. */
  begin(exchange: Exchange): void;
}
