import type { GatewayContext } from "../process/gateway-context.ts";
import type { ExportQueue } from "./otlp/export-queue.ts";

/** Where telemetry is made. */
export interface TelemetryContext {
  /** The gateway's name. */
  readonly name: string;
  readonly gateway: GatewayContext;
  /** The queues that hold something: they are flushed before the process ends. */
  readonly pending: Set<ExportQueue>;
}
