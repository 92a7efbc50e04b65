import type { frontendFields } from "../../1-parse/kubernetes/schemas/frontend.ts";
import type { FrontendValue } from "../../1-parse/standalone/frontend.ts";
import type { ProcessValue } from "../../1-parse/standalone/process.ts";
import type { ProcessTracingValue, TracingValue } from "../../1-parse/standalone/tracing.ts";
import { namedDestination } from "../../backends/parts/callout-server.ts";
import type { ExpressionConfig } from "../../backends/parts/expressions.ts";
import { readHeaders } from "../../backends/parts/header-fields.ts";
import { readBackendPolicies } from "../../backends/parts/read-policies.ts";
import type { NamedField } from "../../config/access-log.ts";
import type { CollectorConfig } from "../../config/collector.ts";
import { readCapture, readKubernetesCapture } from "../../config/message-capture.ts";
import type { TracingConfig } from "../../config/tracing.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { DestinationConfig } from "../../model/destinations.ts";
import type { Text } from "../../model/texts.ts";
import type { Infer } from "../../schema/schema.ts";

/** Default path of spans. */
const TRACES_PATH = "/v1/traces";

/** Reads the tracing of a file, or of a raw configuration; `origin` is that of the root. */
export function readTracings(
  { config, frontendPolicies }: TracingPlaces,
  origin: Origin,
  diagnostics: Diagnostics,
): TracingConfig | undefined {
  const ofProcess = config?.tracing;
  const ofFrontend = frontendPolicies?.tracing;
  const at = childOf(origin, "config", "tracing");
  if (ofFrontend === undefined) return ofProcess && readProcessTracing(ofProcess, at);
  if (ofProcess !== undefined) diagnostics.report("tracing-twice", keyPlace(at), {});
  return readTracing(ofFrontend, childOf(origin, "frontendPolicies", "tracing"));
}

/** The sections that can configure tracing. */
interface TracingPlaces {
  readonly config?: Pick<ProcessValue, "tracing"> | undefined;
  readonly frontendPolicies?: Pick<FrontendValue, "tracing"> | undefined;
}

function readProcessTracing(value: ProcessTracingValue, origin: Origin): TracingConfig {
  const { otlpEndpoint, headers, otlpProtocol, path, fields } = value;
  const at = childOf(origin, "fields");
  return {
    collector: {
      kind: "variable",
      configured: otlpEndpoint === undefined ? undefined : configuredCollector(value, origin),
      protocol: otlpProtocol,
      path,
      headers: readHeaders(headers, childOf(origin, "headers")),
      origin,
    },
    ...readSamplings(value, origin),
    filter: undefined,
    remove: named(fields?.remove, childOf(at, "remove")),
    add: expressions(fields?.add, childOf(at, "add")),
    resources: [],
    origin,
  };
}

/** Reads the collector as it is without variables of OpenTelemetry. */
function configuredCollector(
  { otlpEndpoint: host = "", otlpProtocol, path }: ProcessTracingValue,
  origin: Origin,
): CollectorConfig {
  // Calls of gRPC have no path of their own.
  const protocol = otlpProtocol ?? (isWithPath(host) ? "http" : "grpc");
  const hasPath = protocol === "http" && path === undefined && isWithPath(host);
  return {
    destination: { to: { host }, origin: childOf(origin, "otlpEndpoint") },
    protocol,
    path: hasPath ? "" : (path ?? TRACES_PATH),
    headers: [],
  };
}

/** Whether an endpoint is the whole URL of the collector's traces rather than its base. */
function isWithPath(endpoint: Text): boolean {
  return typeof endpoint === "string" && /^https?:\/\/[^/?#]+\/[^?#]/.test(endpoint);
}

function readTracing(value: TracingValue, origin: Origin): TracingConfig {
  return {
    collector: readCollector(value, TRACES_PATH, origin),
    ...readSamplings(value, origin),
    filter:
      value.filter === undefined
        ? undefined
        : { text: value.filter, origin: childOf(origin, "filter") },
    remove: named(value.remove, childOf(origin, "remove")),
    add: expressions(value.attributes, childOf(origin, "attributes")),
    resources: expressions(value.resources, childOf(origin, "resources")),
    capture: value.capture && readCapture(value.capture, childOf(origin, "capture")),
    origin,
  };
}

/** Reads an OTLP server of a file; `origin` is that of its description. */
export function readCollector(
  { policies, protocol = "grpc", path, ...server }: CollectorValue,
  defaultPath: string,
  origin: Origin,
): CollectorConfig {
  return {
    destination: {
      ...namedDestination(server, origin),
      policies: readBackendPolicies(policies, childOf(origin, "policies")),
    },
    protocol,
    path: path ?? defaultPath,
    headers: [],
  };
}

type CollectorValue = Pick<
  TracingValue,
  "host" | "backend" | "service" | "policies" | "protocol" | "path"
>;

/** Reads the tracing of a GatewayPolicy; `server` is its collector. */
export function readKubernetesTracing(
  value: Infer<typeof frontendFields.tracing>,
  server: DestinationConfig,
  origin: Origin,
): TracingConfig {
  const { attributes: { remove, add = [] } = {}, resources = [] } = value;
  const at = childOf(origin, "attributes");
  return {
    collector: readKubernetesCollector(value, "HTTP", server, TRACES_PATH),
    ...readSamplings(value, origin),
    filter:
      value.filter === undefined
        ? undefined
        : { text: value.filter, origin: childOf(origin, "filter") },
    remove: named(remove, childOf(at, "remove")),
    add: add.map(({ name, expression: text }, index) => ({
      name,
      text,
      origin: childOf(at, "add", index, "expression"),
    })),
    resources: resources.map(({ name, expression: text }, index) => ({
      name,
      text,
      origin: childOf(origin, "resources", index, "expression"),
    })),
    capture: value.capture && readKubernetesCapture(value.capture, childOf(origin, "capture")),
    origin,
  };
}

/** Reads an OTLP server of a GatewayPolicy; the path of its URL replaces the default one. */
export function readKubernetesCollector(
  { protocol: given, path, url = "" }: KubernetesCollectorValue,
  defaultProtocol: "HTTP" | "GRPC",
  destination: DestinationConfig,
  defaultPath: string,
): CollectorConfig {
  const protocol = (given ?? defaultProtocol) === "GRPC" ? "grpc" : "http";
  const hasPath = protocol === "http" && path === undefined && isWithPath(url);
  return { destination, protocol, path: hasPath ? "" : (path ?? defaultPath), headers: [] };
}

type KubernetesCollectorValue = Partial<
  Pick<Infer<typeof frontendFields.tracing>, "protocol" | "path" | "url">
>;

/** Sampling rates, in any of the forms. */
type SamplingValues = Partial<
  Record<"randomSampling" | "clientSampling", string | number | boolean>
>;

function readSamplings(
  { randomSampling, clientSampling }: SamplingValues,
  origin: Origin,
): Pick<TracingConfig, "randomSampling" | "clientSampling"> {
  const read = (value: string | number | boolean | undefined, field: string) =>
    value === undefined ? undefined : { text: String(value), origin: childOf(origin, field) };
  return {
    randomSampling: read(randomSampling, "randomSampling"),
    clientSampling: read(clientSampling, "clientSampling"),
  };
}

function named(list: readonly string[] | undefined, origin: Origin): readonly NamedField[] {
  return (list ?? []).map((name, index) => ({ name, origin: childOf(origin, index) }));
}

function expressions(
  map: Readonly<Record<string, string>> | undefined,
  origin: Origin,
): readonly (NamedField & ExpressionConfig)[] {
  return Object.entries(map ?? {}).map(([name, text]) => ({
    name,
    text,
    origin: childOf(origin, name),
  }));
}
