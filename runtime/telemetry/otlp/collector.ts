import type { GatewayContext } from "../../process/gateway-context.ts";
import type { Exporter } from "./export-queue.ts";

/** Where one signal goes: an OTLP server, and how it is spoken to. */
export interface Collector {
  /** Opens the way there, for the process that has this context. */
  exporter(envelope: OtlpEnvelope, gateway: GatewayContext): Exporter;
}

/** What every request to a collector is made of, as JSON of OTLP. */
export interface OtlpEnvelope {
  /** What stands before the items, and after them. */
  readonly open: string;
  readonly close: string;
  /** How a response calls the items that it rejects: `rejectedSpans`. */
  readonly rejected: string;
}

/** Milliseconds that a collector has for a batch. */
export const exportDeadline = 10_000;
