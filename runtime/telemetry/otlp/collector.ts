import type { GatewayContext } from "../../process/gateway-context.ts";
import type { Exporter } from "./export-queue.ts";
import type { OtlpFormat, OtlpSignal } from "./otlp-format.ts";

/** The OTLP server that receives one signal, and its encoding. */
export interface Collector {
  readonly format: OtlpFormat;
  /** Creates the exporter for a process. */
  exporter(signal: OtlpSignal, gateway: GatewayContext): Exporter;
}

/** Maximum milliseconds for sending a batch. */
export const EXPORT_DEADLINE = 10_000;
