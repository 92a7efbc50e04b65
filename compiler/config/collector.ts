import type { OtlpProtocol } from "../ir/collector.ts";
import type { DestinationConfig } from "../model/destinations.ts";
import type { HeaderField } from "../model/header-changes.ts";

/** An OTLP server, as configured. */
export interface CollectorConfig {
  readonly destination: DestinationConfig;
  readonly protocol: OtlpProtocol;
  /** The path that HTTP requests go to: `/v1/traces`. */
  readonly path: string;
  /** Further headers. */
  readonly headers: readonly HeaderField[];
}
