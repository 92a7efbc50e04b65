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
