/**
 * The CEL variables of a request, as emitted expressions read them. `Exchange` has this shape, so a rule reads the
 * request itself and nothing is copied.
 */
export interface RequestVariables {
  /** `request.method`, as sent. */
  readonly method: string;
  /** `request.scheme`. */
  readonly scheme: string;
  /** `request.host`: the authority as sent, lower case, with its port when it has one. */
  readonly host: string;
  /** `request.path`: the path of the target without the query, as routed and forwarded. */
  readonly path: string;
  /** `request.pathAndQuery`: the target in origin form. */
  readonly pathAndQuery: string;
  /** `request.uri`: scheme, authority and target. */
  readonly uri: string;
  /** `request.version`: `HTTP/1.1` or `HTTP/2`. */
  readonly version: string;
  /** Milliseconds since the epoch at which the head of the request had arrived: `request.startTime`. */
  readonly startTime: number;
  /** One header by lower-case name: its value, several values joined by `, `, or undefined when it is not there. */
  header(name: string): string | undefined;
  /** Every header by lower-case name, several values joined by `, `: `request.headers` used as a whole. */
  headerMap(): ReadonlyMap<string, string>;
  /** The peer: `source.address` and `source.port`. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** `request.body`: all of it, once a policy that reads it has buffered it; undefined before and without a body. */
  readonly bufferedBody?: Uint8Array | undefined;
  /** What the client's certificate says: `source.subject`, `source.identity`, ... */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** A verified client certificate. */
export interface ClientCertificate {
  /** Distinguished names in the order of RFC 4514. */
  readonly subject: string;
  readonly issuer: string;
  readonly subjectCn?: string | undefined;
  readonly subjectAltNames: readonly string[];
  /** From a SPIFFE URI: `spiffe://TRUST_DOMAIN/ns/NAMESPACE/sa/SERVICE_ACCOUNT`. */
  readonly identity?: WorkloadIdentity | undefined;
}

/** The workload that a SPIFFE certificate names. */
export interface WorkloadIdentity {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A JSON object that came from outside: claims, key metadata. Read own properties only. */
export type JsonObject = { readonly [name: string]: unknown };

/** `jwt`, and `auth.claims`: the claims of the verified token, or null without one. */
export type JwtVariable = JsonObject | null;

/** `mcp`: the tool, prompt or resource that is listed or called; exactly one of the three is there. */
export interface McpVariables {
  readonly tool?: McpPrimitive;
  readonly prompt?: McpPrimitive;
  readonly resource?: McpPrimitive;
  /** The JSON-RPC method: `tools/call`, ... */
  readonly methodName: string;
}

/** One MCP item in a rule: the name without the target's prefix (a resource's URI), and the target. */
export interface McpPrimitive {
  readonly name: string;
  readonly target: string;
}

/** `apiKey`: the metadata of the matched key, or null without one. */
export type ApiKeyVariable = JsonObject | null;

/** `basicAuth`: the user, or null without one. */
export type BasicAuthVariable = { readonly username: string } | null;

/** `extauthz`, `extproc`, `metadata`: what those policies set, or null. */
export type PolicyVariable = JsonObject | null;

/** `response`, once its head is there. */
export interface ResponseVariables {
  /** `response.code`. */
  readonly status: number;
  /** One header by lower-case name, several values joined by `, `; undefined when it is not there. */
  header(name: string): string | undefined;
  /** Every header by lower-case name: `response.headers` used as a whole. */
  headerMap(): ReadonlyMap<string, string>;
  /** `response.body`, once it is buffered. */
  readonly bufferedBody?: Uint8Array | undefined;
  /** Milliseconds since the epoch at which all was sent: `request.endTime`. */
  readonly endTime?: number | undefined;
}

/** `response` in the log: nothing was sent when the client left. */
export interface LogResponseVariables extends Omit<ResponseVariables, "status"> {
  readonly status: number | undefined;
}

/** `backend`: where the request goes, or null when no backend was chosen. */
export type BackendVariable = {
  readonly name: string;
  readonly type: "ai" | "mcp" | "static" | "dynamic" | "service";
  readonly protocol: "http" | "tcp" | "mcp" | "llm";
} | null;

/** `env`: where the gateway runs; empty strings outside Kubernetes. */
export interface EnvVariables {
  readonly podName: string;
  readonly namespace: string;
  readonly gateway: string;
}

/** `llm`: the LLM call of a request, or null for other requests. A count that the provider did not give is absent. */
export type LlmVariable = LlmCall | null;

/** One LLM call, as far as it is known at the moment. */
export interface LlmCall {
  readonly streaming?: boolean;
  readonly requestModel?: string;
  readonly responseModel?: string;
  readonly provider?: string;
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheCreationInputTokens?: number;
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  readonly totalTokens?: number;
  readonly countTokens?: number;
  readonly prompt?: readonly { readonly role: string; readonly content: string }[];
  readonly completion?: readonly string[];
  readonly params?: JsonObject;
}

/** `llmRequest`: the parsed body of an LLM request. */
export type LlmRequestVariable = JsonObject | null;
