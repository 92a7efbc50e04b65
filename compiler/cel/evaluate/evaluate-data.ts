import type {
  CapturedVariables,
  RequestVariables,
  ResponseVariables,
} from "../../../runtime/cel/variables.ts";

type Data = Readonly<Record<string, unknown>>;

/** Builds the variables of emitted code from data in the form of expressions. */
export function variablesFrom(data: unknown): Readonly<Record<string, unknown>> {
  const all = objectOf(data);
  return {
    request: {
      ...requestFrom(objectOf(all.request), objectOf(all.source)),
      ...destinationFrom(objectOf(all.destination)),
      record: recordFrom(objectOf(all.proxy)),
      captured: capturedFrom(all),
    },
    response: responseFrom(objectOf(all.response), objectOf(all.request)),
    jwt: objectOf(all.auth).claims ?? all.jwt ?? null,
    apiKey: all.apiKey ?? null,
    basicAuth: all.basicAuth ?? null,
    extauthz: all.extauthz ?? null,
    extproc: all.extproc ?? null,
    custom: all.custom ?? null,
    metadata: all.metadata ?? null,
    mcp: mcpFrom(objectOf(all.mcp)),
    llm: all.llm ?? null,
    llmRequest: all.llmRequest ?? null,
    backend: all.backend ?? null,
    env: { podName: "", namespace: "", gateway: "", ...objectOf(all.env) },
  };
}

type ConnectionVariables = Pick<
  RequestVariables,
  "localAddress" | "localPort" | "serverName" | "record"
>;

function destinationFrom(destination: Data): Omit<ConnectionVariables, "record"> {
  const { address, port, hostname } = destination;
  return {
    localAddress: textOf(address, "127.0.0.1"),
    localPort: numberOf(port, 80),
    serverName: hostname === undefined ? undefined : textOf(hostname, ""),
  };
}

function recordFrom({ listener, route }: Data): ConnectionVariables["record"] {
  const nameOf = (value: unknown): string | undefined => {
    const { name } = objectOf(value);
    return name === undefined ? undefined : String(name);
  };
  return { listener: nameOf(listener), route: nameOf(route) };
}

function requestFrom(
  request: Data,
  source: Data,
): Omit<RequestVariables, keyof ConnectionVariables> {
  const headers = headersFrom(request.headers);
  const path = textOf(request.path, "/");
  const host = textOf(request.host, headers.get("host") ?? "localhost");
  const scheme = textOf(request.scheme, "http");
  const pathAndQuery = textOf(request.pathAndQuery, path);
  return {
    method: textOf(request.method, "GET"),
    scheme,
    host,
    path,
    pathAndQuery,
    uri: textOf(request.uri, `${scheme}://${host}${pathAndQuery}`),
    version: textOf(request.version, "HTTP/1.1"),
    startTime: timeOf(request.startTime) ?? 0,
    header: (name) => headers.get(name),
    headerMap: () => headers,
    remoteAddress: textOf(source.address, "127.0.0.1"),
    remotePort: numberOf(source.port, 0),
    peerAddress: textOf(source.rawAddress, textOf(source.address, "127.0.0.1")),
    peerPort: numberOf(source.rawPort, numberOf(source.port, 0)),
    bufferedBody: bytesOf(request.body),
    clientCertificate: certificateFrom(source),
  };
}

/** Bodies as the log reads them. */
function capturedFrom(all: Data): CapturedVariables {
  const { completion, toolCalls, serviceTier } = objectOf(all.llm);
  const tool = objectOf(objectOf(all.mcp).tool);
  return {
    request: bytesOf(objectOf(all.request).body),
    response: bytesOf(objectOf(all.response).body),
    completion: Array.isArray(completion) ? completion.map(String) : undefined,
    toolCalls: Array.isArray(toolCalls) ? toolCalls.map(objectOf) : undefined,
    serviceTier: serviceTier === undefined ? undefined : textOf(serviceTier, ""),
    toolArguments: tool.arguments === undefined ? undefined : objectOf(tool.arguments),
    toolResult: tool.result,
    toolError: tool.error,
  };
}

function responseFrom(response: Data, request: Data): ResponseVariables {
  const headers = headersFrom(response.headers);
  return {
    status: numberOf(response.code, 200),
    header: (name) => headers.get(name),
    headerMap: () => headers,
    bufferedBody: bytesOf(response.body),
    endTime: timeOf(request.endTime),
    grpcStatus: response.grpcStatus === undefined ? undefined : numberOf(response.grpcStatus, 0),
  };
}

function certificateFrom(source: Data): RequestVariables["clientCertificate"] {
  if (source.subject === undefined && source.identity === undefined) return undefined;
  const identity = objectOf(source.identity);
  const names = source.subjectAltNames;
  return {
    subject: textOf(source.subject, ""),
    issuer: textOf(source.issuer, ""),
    pem: textOf(source.certificate, ""),
    subjectCn: source.subjectCn === undefined ? undefined : textOf(source.subjectCn, ""),
    subjectAltNames: Array.isArray(names) ? names.map(String) : [],
    identity:
      source.identity === undefined
        ? undefined
        : {
            trustDomain: textOf(identity.trustDomain, ""),
            namespace: textOf(identity.namespace, ""),
            serviceAccount: textOf(identity.serviceAccount, ""),
          },
  };
}

/** Handles `mcp.method`, an alias of `mcp.methodName`. */
function mcpFrom({ method, ...mcp }: Data): Data {
  return method === undefined ? mcp : { methodName: method, ...mcp };
}

/** Builds headers: names are case-insensitive, and several values are joined as in the gateway. */
function headersFrom(headers: unknown): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(objectOf(headers)).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value)
        ? value.join(name.toLowerCase() === "cookie" ? "; " : ", ")
        : String(value),
    ]),
  );
}

function objectOf(value: unknown): Data {
  // `as`: any object can be read by name.
  return typeof value === "object" && value !== null ? (value as Data) : {};
}

function textOf(value: unknown, fallback: string): string {
  return value === undefined ? fallback : String(value);
}

function numberOf(value: unknown, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

/** Builds a body: a string is used unchanged, other JSON is serialized. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value === undefined) return undefined;
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value), "utf8");
}

/** Parses a time: an RFC 3339 string, or milliseconds since 1970. */
function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const millis = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(millis) ? undefined : millis;
}
