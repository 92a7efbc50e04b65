import type { CollectorNode } from "../../compiler/ir/collector.ts";
import { upstreamCode, upstreamSettings } from "../backends/parts/connection.ts";
import { code, literal } from "../code/code.ts";
import type { Code } from "../code/hole.ts";
import { imported } from "../code/names.ts";

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
