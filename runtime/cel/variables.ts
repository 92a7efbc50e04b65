/**
 * CEL variables of a request for emitted expressions. `Exchange` has this shape, so that rules read the request without a
 * copy.
 */
export interface RequestVariables {
  /** `request.method`, as sent. */
  readonly method: string;
  /** `request.scheme`. */
  readonly scheme: string;
  /** `request.host`: the authority as sent, in lower case, with its port if it has one. */
  readonly host: string;
  /** `request.path`: the path of the target without the query, as routed and forwarded. */
  readonly path: string;
  /** `request.pathAndQuery`: the target in origin form. */
  readonly pathAndQuery: string;
  /** `request.uri`: scheme, authority and target. */
  readonly uri: string;
  /** `request.version`: `HTTP/1.1` or `HTTP/2`. */
  readonly version: string;
  /** Milliseconds since the epoch when the head of the request had arrived: `request.startTime`. */
  readonly startTime: number;
  /** One header by lower-case name, with several values joined by `, `; `undefined` if it is absent. */
  header(name: string): string | undefined;
  /** Every header by lower-case name, with several values joined by `, `: `request.headers` as a whole. */
  headerMap(): ReadonlyMap<string, string>;
  /** The peer: `source.address` and `source.port`. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The other end of the TCP connection, which may be a proxy: `source.rawAddress` and `source.rawPort`. */
  readonly peerAddress: string;
  readonly peerPort: number;
  /** The gateway's end of the connection: `destination.address`, `destination.port` and `destination.hostname`. */
  readonly localAddress: string;
  readonly localPort: number;
  readonly serverName: string | undefined;
  /** Names for `proxy.listener.name` and `proxy.route.name`; `undefined` until chosen. */
  readonly record: { readonly listener: string | undefined; readonly route: string | undefined };
  /** `request.body`: the whole body, once a policy that reads it has buffered it; `undefined` before, and without a body. */
  readonly bufferedBody?: Uint8Array | undefined;
  /** Bodies in the log; `undefined` if no expression reads them. */
  readonly captured?: CapturedVariables | undefined;
  /** Fields of the client's certificate: `source.subject`, `source.identity`, ... */
  readonly clientCertificate?: ClientCertificate | undefined;
}

/** `request.body`, `response.body`, `llm.completion` and more in the log: bodies as far as they passed. */
export interface CapturedVariables {
  /** Decoded; `undefined` if it was not captured or cannot be decoded, for example because it was too long. */
  readonly request: Uint8Array | undefined;
  readonly response: Uint8Array | undefined;
  /** Texts of the completion that the client received, one for each choice. */
  readonly completion: readonly string[] | undefined;
  /** Tools that the model called. */
  readonly toolCalls: readonly JsonObject[] | undefined;
  /** Service tier of the response. */
  readonly serviceTier: string | undefined;
  /** Arguments, result and error of a tool call. */
  readonly toolArguments: JsonObject | undefined;
  readonly toolResult: unknown;
  readonly toolError: unknown;
}

/** A verified client certificate. */
export interface ClientCertificate {
  /** Distinguished names in the order of RFC 4514. */
  readonly subject: string;
  readonly issuer: string;
  /** The certificate as PEM. */
  readonly pem: string;
  readonly subjectCn?: string | undefined;
  readonly subjectAltNames: readonly string[];
  /** The first name that is a SPIFFE ID, of any form. */
  readonly spiffeId?: string | undefined;
  /** From a SPIFFE URI: `spiffe://TRUST_DOMAIN/ns/NAMESPACE/sa/SERVICE_ACCOUNT`. */
  readonly identity?: WorkloadIdentity | undefined;
}

/** The workload that a SPIFFE certificate names. */
export interface WorkloadIdentity {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A JSON object from outside: claims, key metadata. Read own properties only. */
export type JsonObject = { readonly [name: string]: unknown };

/** `jwt`, and `auth.claims`: the claims of the verified token, or null without a token. */
export type JwtVariable = JsonObject | null;

/** `mcp`: the tool, prompt or resource that is listed or called; exactly one of the three is present. */
export interface McpVariables {
  readonly tool?: McpPrimitive;
  readonly prompt?: McpPrimitive;
  readonly resource?: McpPrimitive;
  /** The JSON-RPC method: `tools/call`, ... */
  readonly methodName: string;
  /** Session of the request; `undefined` without one, and in rules. */
  readonly sessionId?: string | undefined;
}

/** One MCP item in a rule: the name without the target's prefix (a resource's URI), and the target. */
export interface McpPrimitive {
  readonly name: string;
  readonly target: string;
  /** The arguments of a tool call; absent if no rule reads them, and in lists. */
  readonly arguments?: JsonObject;
}

/** `apiKey`: the metadata of the matched key, or null without a key. */
export type ApiKeyVariable = JsonObject | null;

/** `basicAuth`: the user, or null without a user. */
export type BasicAuthVariable = { readonly username: string } | null;

/** `extauthz`, `extproc`, `metadata`, `custom`: values that those policies set, or null. */
export type PolicyVariable = JsonObject | null;

/** `response`, once its head has arrived. */
export interface ResponseVariables {
  /** `response.code`. */
  readonly status: number;
  /** One header by lower-case name, with several values joined by `, `; `undefined` if it is absent. */
  header(name: string): string | undefined;
  /** Every header by lower-case name: `response.headers` as a whole. */
  headerMap(): ReadonlyMap<string, string>;
  /** `response.body`, once it is buffered. */
  readonly bufferedBody?: Uint8Array | undefined;
  /** Milliseconds since the epoch when everything was sent: `request.endTime`. */
  readonly endTime?: number | undefined;
  /** `response.grpcStatus`: the status of a gRPC response. */
  readonly grpcStatus?: number | undefined;
}

/** `response` in the log, for a client that left before anything was sent. */
export interface LogResponseVariables extends Omit<ResponseVariables, "status"> {
  readonly status: number | undefined;
}

/** `backend`: the target of the request, or null if no backend was chosen. */
export type BackendVariable = {
  readonly name: string;
  readonly type: "ai" | "mcp" | "static" | "dynamic" | "service";
  readonly protocol: "http" | "tcp" | "mcp" | "llm";
} | null;

/** `env`: the environment of the gateway; empty strings outside of Kubernetes. */
export interface EnvVariables {
  readonly podName: string;
  readonly namespace: string;
  readonly gateway: string;
}

/** `llm`: the LLM call of a request, or null for other requests. Counts that the provider did not report are absent. */
export type LlmVariable = LlmCall | null;

/** One LLM call, with the attributes that are known so far. */
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
  readonly inputAudioTokens?: number;
  readonly outputAudioTokens?: number;
  readonly totalTokens?: number;
  readonly countTokens?: number;
  readonly characters?: number;
  readonly seconds?: number;
  readonly images?: number;
  readonly documents?: number;
  readonly searches?: number;
  readonly cost?: LlmCost;
  /** Prices of a million tokens in US dollars. */
  readonly costRates?: LlmRates;
  /** Seconds. */
  readonly timeToFirstToken?: number;
  readonly timePerOutputToken?: number;
  readonly prompt?: readonly { readonly role: string; readonly content: string }[];
  readonly params?: JsonObject;
}

/** `llm.cost`: costs of a call in US dollars, by the kind of its tokens, and those of its units. */
export interface LlmCost {
  readonly total: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  readonly inputAudio: number;
  readonly outputAudio: number;
  readonly units: number;
}

/** `llm.costRates`: prices of a million tokens in US dollars, by the kind of the tokens. */
export type LlmRates = Partial<Omit<LlmCost, "total">>;

/** `llmRequest`: the parsed body of an LLM request. */
export type LlmRequestVariable = JsonObject | null;
