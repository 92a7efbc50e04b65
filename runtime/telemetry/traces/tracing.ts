import type { EnvVariables } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { MetricsPart } from "../../process/metrics-part.ts";
import type { ExportQueue } from "../otlp/export-queue.ts";

/** What of the requests of a gateway is traced, before it runs. */
export interface Tracing {
  open(context: TelemetryContext): Tracer;
}

/** Where telemetry is made. */
export interface TelemetryContext {
  /** The gateway's name. */
  readonly name: string;
  readonly env: EnvVariables;
  readonly metrics: Set<MetricsPart>;
  readonly warn: (message: string) => void;
  /** The queues that hold something: they are flushed before the process ends. */
  readonly pending: Set<ExportQueue>;
}

/** Traces the requests of a gateway. */
export interface Tracer {
  /** Decides whether a request is traced; its trace is the exchange's from here on. */
  begin(exchange: Exchange): void;
}
