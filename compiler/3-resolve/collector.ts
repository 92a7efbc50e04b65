import { reportGrpcPath } from "../backends/parts/callout-target.ts";
import { resolveConnection } from "../backends/parts/connection.ts";
import { type DestinationContext, resolveDestination } from "../backends/parts/destination.ts";
import { resolveHeader } from "../backends/parts/header-fields.ts";
import type { CollectorConfig, VariableCollectorConfig } from "../config/collector.ts";
import { childOf, type Diagnostics, type Origin } from "../diagnostics/diagnostic.ts";
import type { CollectorNode, VariableCollectorNode } from "../ir/collector.ts";
import type { HeaderField } from "../model/header-changes.ts";
import { reportRepeatedPath } from "../model/repeated-path.ts";
import type { Text } from "../model/texts.ts";

/** Resolves an OTLP server; returns `undefined` if a mistake was reported. */
export function resolveCollector(
  { destination, protocol, path, headers }: CollectorConfig,
  context: DestinationContext,
): CollectorNode | undefined {
  const found = resolveDestination(destination, context);
  if (found !== undefined) {
    const { url, http, origin } = found;
    const { diagnostics } = context;
    if (protocol === "grpc") {
      reportGrpcPath(url, "`http` as the protocol", origin, diagnostics);
      if (http?.version === "HTTP1") {
        diagnostics.report("grpc-over-http1", childOf(http.origin, "version"), {});
      }
    } else reportRepeatedPath(url, [path], origin, diagnostics);
    reportOtherPort(url, protocol, origin, diagnostics);
  }
  const pairs = resolvePairs(headers, context);
  return found && { destination: found, protocol, path, headers: pairs };
}

/** Resolves the collector of `config.tracing`; returns `undefined` if a mistake was reported. */
export function resolveVariableCollector(
  { kind, configured, protocol, path, headers, origin }: VariableCollectorConfig,
  context: DestinationContext,
): VariableCollectorNode | undefined {
  const found = configured && resolveCollector(configured, context);
  if (configured !== undefined && found === undefined) return undefined;
  const { url, connection = resolveConnection({}, context) } = found?.destination ?? {};
  const at = configured === undefined ? origin : configured.destination.origin;
  const pairs = resolvePairs(headers, context);
  return { kind, url, connection, protocol, path, headers: pairs, origin: at };
}

function resolvePairs(
  headers: readonly HeaderField[],
  context: DestinationContext,
): CollectorNode["headers"] {
  const fields = headers.flatMap((field) => resolveHeader(field, context) ?? []);
  return fields.map(({ name, value }) => [name, value]);
}

/** Ports of OTLP collectors (OTLP, IANA) for the protocol other than the configured one. */
const OTHER_PORTS = {
  grpc: { port: "4318", over: "HTTP" },
  http: { port: "4317", over: "gRPC" },
} as const;

function reportOtherPort(
  url: Text,
  protocol: CollectorConfig["protocol"],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (typeof url !== "string" || url.startsWith("unix:")) return;
  const other = OTHER_PORTS[protocol];
  if (new URL(url).port === other.port) {
    diagnostics.report("otlp-port", origin, { ...other, protocol });
  }
}
