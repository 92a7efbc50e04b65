import type { DestinationNode } from "../backends/parts/destination.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../model/connections.ts";
import type { Text } from "../model/texts.ts";

/** An OTLP collector. */
export interface CollectorNode {
  readonly destination: DestinationNode;
  readonly protocol: OtlpProtocol;
  readonly path: string;
  readonly headers: readonly (readonly [string, Text])[];
}

/** The collector of `config.tracing`, whose settings variables of OpenTelemetry replace when the gateway starts. */
export interface VariableCollectorNode {
  readonly kind: "variable";
  /** `undefined` if a variable must have the address. */
  readonly url: Text | undefined;
  readonly connection: BackendConnection;
  /** `undefined` if the address decides. */
  readonly protocol: OtlpProtocol | undefined;
  /** `undefined` if the address decides. */
  readonly path: string | undefined;
  readonly headers: CollectorNode["headers"];
  readonly origin: Origin;
}

/** Protocol of an OTLP collector. */
export type OtlpProtocol = "http" | "grpc";
