import type { CollectorNode, VariableCollectorNode } from "../../compiler/ir/collector.ts";
import {
  connectionSettings,
  upstreamCode,
  upstreamSettings,
} from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";

const OTLP = "gwc/runtime/telemetry/otlp";

/** Writes the connection to an OTLP server. `overGrpc`: the function that opens it over gRPC, for one signal. */
export function collectorCode(
  { destination, protocol, path, headers }: CollectorNode,
  overGrpc: "grpcTraceCollector" | "grpcLogCollector",
): Code {
  const { url, connection } = destination;
  const fields = headers.length === 0 ? undefined : headers.flat();
  if (protocol === "http") {
    const settings = { upstream: upstreamCode(url, connection), path, headers: fields };
    return code`${imported(`${OTLP}/http-collector`, "httpCollector")}(${literal(settings)})`;
  }
  const open = imported("gwc/runtime/grpc/channel", "openGrpcChannel");
  const { version: _, ...channel } = upstreamSettings(url, connection);
  const settings = { channel: code`${open}(${literal(channel)})`, metadata: fields };
  return code`${imported(`${OTLP}/grpc-collector`, overGrpc)}(${literal(settings)})`;
}

/** Writes the connection to the collector of `config.tracing`, whose settings variables of OpenTelemetry replace. */
export function variableCollectorCode(
  { url, connection, protocol, path, headers, origin }: VariableCollectorNode,
  trace: Trace,
): Code {
  const settings = {
    ...(url === undefined ? connectionSettings(connection) : upstreamSettings(url, connection)),
    protocol,
    path,
    headers: headers.length === 0 ? undefined : headers.flat(),
    ...(url === undefined && { config: trace.text(origin) }),
  };
  const open = imported(`${OTLP}/variable-collector`, "variableCollector");
  return code`${open}(${literal(settings)})`;
}
