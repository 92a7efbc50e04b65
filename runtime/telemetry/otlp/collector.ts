import type { GatewayContext } from "../../process/gateway-context.ts";
import type { Exporter } from "./export-queue.ts";
import type { OtlpFormat, OtlpSignal } from "./otlp-format.ts";

/** Where one signal goes: an OTLP server, and how it is spoken to. */
export interface Collector {
  readonly format: OtlpFormat;
  /** Opens the way there, for the process that has this context. */
  exporter(signal: OtlpSignal, gateway: GatewayContext): Exporter;
}

/** Milliseconds that a collector has for a batch. */
export const EXPORT_DEADLINE = 10_000;
