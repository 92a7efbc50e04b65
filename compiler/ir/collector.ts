import type { DestinationNode } from "../backends/parts/destination.ts";
import type { Text } from "../model/texts.ts";

/** An OTLP collector. */
export interface CollectorNode {
  readonly destination: DestinationNode;
  readonly protocol: OtlpProtocol;
  readonly path: string;
  readonly headers: readonly (readonly [string, Text])[];
}

/** Protocol of an OTLP collector. */
export type OtlpProtocol = "http" | "grpc";
