import type { Origin } from "../diagnostics/diagnostic.ts";
import type { OtlpProtocol } from "../ir/collector.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import type { HeaderField } from "../model/header-changes.ts";

/** An OTLP collector, as configured. */
export interface CollectorConfig {
  readonly destination: DestinationConfig;
  readonly protocol: OtlpProtocol;
  /** Path of HTTP requests: `/v1/traces`. */
  readonly path: string;
  /** Additional request headers. */
  readonly headers: readonly HeaderField[];
}

/** The collector of `config.tracing`, whose settings variables of OpenTelemetry replace when the gateway starts. */
export interface VariableCollectorConfig {
  readonly kind: "variable";
  /** The configured collector; `undefined` if a variable must have its address. */
  readonly configured: CollectorConfig | undefined;
  /** `undefined` if the address decides. */
  readonly protocol: OtlpProtocol | undefined;
  /** `undefined` if the address decides. */
  readonly path: string | undefined;
  readonly headers: readonly HeaderField[];
  readonly origin: Origin;
}
