import type { DestinationNode } from "../backends/parts/destination.ts";
import type { Text } from "../model/texts.ts";

/** An OTLP server. */
export interface CollectorNode {
  readonly destination: DestinationNode;
  readonly protocol: OtlpProtocol;
  readonly path: string;
  readonly headers: readonly (readonly [string, Text])[];
}

/** How an OTLP server is spoken to. */
export type OtlpProtocol = "http" | "grpc";
