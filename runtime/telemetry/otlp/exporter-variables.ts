import { startupError } from "../../process/startup-error.ts";
import { MINUTE } from "../../process/units.ts";

/** Variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Protocol and encoding of an OTLP server, as OpenTelemetry's variables name them. */
export type ExporterProtocol = "grpc" | "http/protobuf" | "http/json";

/** Settings of traces in the variables of OpenTelemetry's exporters; `undefined` for those that none of them sets. */
export interface ExporterVariables {
  readonly endpoint: CollectorEndpoint | undefined;
  readonly protocol: ExporterProtocol | undefined;
  /** Headers of requests: a flat list. */
  readonly headers: readonly string[] | undefined;
  /** Maximum milliseconds for sending a batch. */
  readonly timeout: number | undefined;
}

/** Address of an OTLP server. */
export interface CollectorEndpoint {
  /** URL without path. */
  readonly url: string;
  /** Path of spans over HTTP; `undefined` for the default one. */
  readonly path: string | undefined;
}

/** Names of the variables with an address, the one that decides first. */
export const ENDPOINT_VARIABLES = [
  "OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
] as const;

/**
 * Reads the variables of OpenTelemetry's exporters. Those for traces precede those for all signals (OpenTelemetry
 * Environment Variable Specification); an empty one counts as unset. Throws StartupError that names a malformed one,
 * without its value, which may be a secret.
 */
export function exporterVariables(environment: Environment): ExporterVariables {
  return {
    endpoint: read(environment, ENDPOINT_VARIABLES, endpointOf),
    protocol: read(environment, variants("PROTOCOL"), protocolOf),
    headers: read(environment, variants("HEADERS"), headersOf),
    timeout: read(environment, variants("TIMEOUT").slice(1), timeoutOf),
  };
}

/** Reads `NAME=VALUE,..` with percent-encoded values (W3C Baggage); returns `undefined` for parts of another form. */
export function pairsOf(text: string): readonly (readonly [string, string] | undefined)[] {
  const parts = text.split(",").filter((part) => part.trim() !== "");
  return parts.map((part) => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    return name === undefined || value === undefined ? undefined : [name, decoded(value)];
  });
}

/** Names of the variables for a setting, the one that decides first; the first is agentgateway's. */
function variants(setting: string): readonly string[] {
  return [
    `OTLP_${setting}`,
    `OTEL_EXPORTER_OTLP_TRACES_${setting}`,
    `OTEL_EXPORTER_OTLP_${setting}`,
  ];
}

function read<Value>(
  environment: Environment,
  names: readonly string[],
  parse: (text: string, name: string) => Value,
): Value | undefined {
  for (const name of names) {
    const text = environment[name]?.trim();
    if (text !== undefined && text !== "") return parse(text, name);
  }
  return undefined;
}

function endpointOf(text: string, name: string): CollectorEndpoint {
  const given = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isUrl = url !== undefined && /^https?:$/.test(url.protocol) && url.username === "";
  if (!isUrl || url.search !== "" || url.hash !== "")
    throw malformed(name, "an http:// or https:// URL, or host:port");
  const path = url.pathname.replace(/\/$/, "");
  const isForAllSignals = name === "OTEL_EXPORTER_OTLP_ENDPOINT" && !path.endsWith("/v1/traces");
  const whole = isForAllSignals ? `${path}/v1/traces` : path;
  return { url: url.origin, path: path === "" ? undefined : whole };
}

const PROTOCOLS: Readonly<Record<string, ExporterProtocol>> = {
  grpc: "grpc",
  http: "http/protobuf",
  "http/protobuf": "http/protobuf",
  "http/json": "http/json",
};

function protocolOf(text: string, name: string): ExporterProtocol {
  const protocol = PROTOCOLS[text.replaceAll('"', "").toLowerCase()];
  if (protocol === undefined) throw malformed(name, "grpc, http/protobuf or http/json");
  return protocol;
}

/** A header name (RFC 9110 5.6.2) that is not of the connection or the body. */
const HEADER_NAME =
  /^(?!(?:connection|content-length|content-type|host|te|transfer-encoding|upgrade)$)[a-z0-9!#$%&'*+\-.^_`|~]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function headersOf(text: string, name: string): readonly string[] {
  const pairs = text.startsWith("{") ? jsonPairs(text) : pairsOf(text);
  return pairs.flatMap((pair) => {
    const [header = "", value] = pair ?? [];
    const field = header.toLowerCase();
    if (typeof value !== "string" || !HEADER_NAME.test(field) || !HEADER_VALUE.test(value))
      throw malformed(name, "headers in the form NAME=VALUE,.. or a JSON object of strings");
    return [field, value];
  });
}

function jsonPairs(text: string): readonly (readonly [string, unknown] | undefined)[] {
  try {
    return Object.entries(JSON.parse(text));
  } catch {
    return [undefined];
  }
}

function timeoutOf(text: string, name: string): number {
  const milliseconds = Number(text);
  if (!Number.isInteger(milliseconds) || milliseconds < 1 || milliseconds > MINUTE)
    throw malformed(name, `milliseconds from 1 to ${MINUTE}`);
  return milliseconds;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function malformed(name: string, form: string): Error {
  return startupError(`the environment variable ${name} must be ${form}`);
}
