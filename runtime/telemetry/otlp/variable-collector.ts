import { openGrpcChannel } from "../../grpc/channel.ts";
import { openUpstream } from "../../http/upstream/open-upstream.ts";
import type { UpstreamSettings } from "../../http/upstream/upstream.ts";
import { startupError } from "../../process/startup-error.ts";
import type { Collector } from "./collector.ts";
import { readExportResponse } from "./export-response.ts";
import {
  type CollectorEndpoint,
  ENDPOINT_VARIABLES,
  type ExporterProtocol,
  type ExporterVariables,
  exporterVariables,
} from "./exporter-variables.ts";
import { grpcTraceCollector } from "./grpc-collector.ts";
import { type HttpEncoding, httpCollector, jsonEncoding } from "./http-collector.ts";
import { otlpProtobuf } from "./protobuf-format.ts";

/** A configured collector of spans, whose settings variables of OpenTelemetry replace. */
export interface VariableCollectorSettings {
  /** URL of the collector, whose path is that of spans; absent if a variable must have it. */
  readonly url?: string;
  /** Milliseconds to connect. */
  readonly connectTimeout: number;
  /** Absent if the address decides. */
  readonly protocol?: "grpc" | "http";
  /** Path of spans over HTTP; absent if the address decides. */
  readonly path?: string;
  /** Further headers: a flat list. */
  readonly headers?: readonly string[];
  /** Place in the configuration, for the error about a missing address; absent with `url`. */
  readonly config?: string;
}

/** Default path of spans (OTLP/HTTP). */
const TRACES_PATH = "/v1/traces";
/** Port of OTLP over HTTP. */
const HTTP_PORT = "4318";

/**
 * Opens the collector of spans. Variables replace the configured address, protocol and headers, as in agentgateway. Throws
 * StartupError if there is no address, or if a variable is malformed.
 */
export function variableCollector(settings: VariableCollectorSettings): Collector {
  const variables = exporterVariables(process.env);
  const endpoint = variables.endpoint ?? configuredEndpoint(settings);
  const path = endpoint.path ?? TRACES_PATH;
  const protocol = protocolOf(settings, variables, endpoint);
  const headers = variables.headers ?? settings.headers ?? [];
  const server: UpstreamSettings = {
    url: endpoint.url,
    connectTimeout: settings.connectTimeout,
  };
  const deadline = variables.timeout === undefined ? {} : { deadline: variables.timeout };
  if (protocol === "grpc") {
    return grpcTraceCollector({ channel: openGrpcChannel(server), metadata: headers, ...deadline });
  }
  const encoding = protocol === "http/json" ? jsonEncoding() : protobufEncoding();
  return httpCollector({ upstream: openUpstream(server), path, headers, encoding, ...deadline });
}

function configuredEndpoint({
  url,
  path,
  config = "config.tracing",
}: VariableCollectorSettings): CollectorEndpoint {
  if (url === undefined) {
    const names = ENDPOINT_VARIABLES.toReversed().join(", ");
    throw startupError(`${config} has no otlpEndpoint, and none of ${names} is set`);
  }
  return { url, path: hasPath(url) ? (path ?? "") : path };
}

/** Whether a URL is the whole address of spans rather than the base of it. */
function hasPath(url: string): boolean {
  return !url.startsWith("unix:") && new URL(url).pathname !== "/";
}

function protocolOf(
  { protocol: configured }: VariableCollectorSettings,
  variables: ExporterVariables,
  endpoint: CollectorEndpoint,
): ExporterProtocol {
  if (variables.protocol !== undefined) return variables.protocol;
  if (configured !== undefined) return configured === "grpc" ? "grpc" : "http/json";
  // Calls of gRPC have no path of their own.
  if (variables.endpoint === undefined) return hasPath(endpoint.url) ? "http/json" : "grpc";
  const isHttp = endpoint.path !== undefined || new URL(endpoint.url).port === HTTP_PORT;
  return isHttp ? "http/protobuf" : "grpc";
}

function protobufEncoding(): HttpEncoding {
  return {
    format: otlpProtobuf(() => ""),
    contentType: "application/x-protobuf",
    read: (body) => readExportResponse(body),
  };
}
