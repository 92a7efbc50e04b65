import type { GatewayContext } from "../process/gateway-context.ts";
import type { ExportQueue } from "./otlp/export-queue.ts";

/** The gateway and process that telemetry belongs to. */
export interface TelemetryContext {
  /** The gateway's name. */
  readonly name: string;
  readonly gateway: GatewayContext;
  /** The queues with items; they are flushed before the process ends. */
  readonly pending: Set<ExportQueue>;
}
