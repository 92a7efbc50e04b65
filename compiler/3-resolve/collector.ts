import { reportGrpcPath } from "../backends/parts/callout-target.ts";
import { type DestinationContext, resolveDestination } from "../backends/parts/destination.ts";
import { resolveHeader } from "../backends/parts/header-fields.ts";
import type { CollectorConfig } from "../config/collector.ts";
import type { CollectorNode } from "../ir/collector.ts";
import { reportRepeatedPath } from "../model/repeated-path.ts";

/** An OTLP server, complete; undefined when a mistake was reported. */
export function resolveCollector(
  { destination, protocol, path, headers }: CollectorConfig,
  context: DestinationContext,
): CollectorNode | undefined {
  const found = resolveDestination(destination, context);
  if (found !== undefined) {
    const { url, origin } = found;
    if (protocol === "grpc") reportGrpcPath(url, true, origin, context.diagnostics);
    else reportRepeatedPath(url, [path], origin, context.diagnostics);
  }
  const fields = headers.flatMap((field) => resolveHeader(field, context) ?? []);
  const pairs = fields.map(({ name, value }) => [name, value] as const);
  return found && { destination: found, protocol, path, headers: pairs };
}
