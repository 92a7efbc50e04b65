import { type DestinationContext, resolveDestination } from "../backends/parts/destination.ts";
import type { CollectorConfig } from "../config/collector.ts";
import type { CollectorNode } from "../ir/collector.ts";

/** An OTLP server, complete; undefined when a mistake was reported. */
export function resolveCollector(
  { destination, protocol, path, headers }: CollectorConfig,
  context: DestinationContext,
): CollectorNode | undefined {
  const found = resolveDestination(destination, context);
  return found && { destination: found, protocol, path, headers };
}
