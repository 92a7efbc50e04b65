import type {
  ApiKeyVariable,
  BasicAuthVariable,
  CapturedVariables,
  JwtVariable,
  LlmCall,
  LlmVariable,
  PolicyVariable,
  RequestVariables,
} from "../cel/variables.ts";
import type { Borrower } from "../net/socket-reads.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { MaybePromise } from "../process/maybe-promise.ts";
import type { BodyObserver, BodyProblem, BodySource } from "./body/body.ts";
import type { CountedBuffer } from "./body/counted-buffer.ts";
import type { ExchangeTrace } from "./exchange-trace.ts";
import type { StrippedCredential } from "./headers/credential-location.ts";
import type { RequestTrailers } from "./headers/trailers.ts";
import type { AddedFields } from "./http1/fields.ts";
import type { ReceivedFields } from "./http1/received-fields.ts";
import { NotedFields } from "./noted-fields.ts";
import type { RefusalFormat } from "./refusal-format.ts";
import type { RequestLineChanges, SentRequestLine } from "./request-line.ts";
import type { ResponseSink } from "./response-sink.ts";

/** Whether a caller may use a model, by the name that clients use. */
export type ModelTest = (model: string) => boolean;

/** A text of a model call, and the role of its author. */
export interface RoleText {
  readonly role: string;
  readonly text: string;
}

/** Decision on texts of a model call. */
export type TextVerdict =
  | { readonly kind: "pass" }
  /** Replacements, one for each text. */
  | { readonly kind: "mask"; readonly texts: readonly string[] }
  /** `status` and `message` override the configured response. */
  | { readonly kind: "reject"; readonly status?: number; readonly message?: string };

/** Decides on texts of a prompt (`request`) or a completion (`response`). */
export type TextHook = (
  phase: "request" | "response",
  texts: readonly RoleText[],
) => Promise<TextVerdict>;

/** Results of a request's policies: variables of expressions, null if their policy did not run. */
export class RequestAttributes {
  jwt: JwtVariable = null;
  apiKey: ApiKeyVariable = null;
  basicAuth: BasicAuthVariable = null;
  extauthz: PolicyVariable = null;
  extproc: PolicyVariable = null;
  metadata: PolicyVariable = null;
  custom: PolicyVariable = null;
  llm: LlmVariable = null;
  /** Models that the caller may use; `undefined` if all. */
  allowedModels: ModelTest | undefined = undefined;
  /** Hooks for the texts of a model call, in order; `undefined` if there are none. */
  declare textHooks: readonly TextHook[] | undefined;
}

/** The gateway's own tokens in a request (own-tokens.ts), as received. */
export interface ShownTokens {
  /** All cookies; `undefined` if none was the gateway's own. */
  readonly cookies: string | undefined;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
}

/**
 * One request and its response, as generated code, policies and backends see it. Header lists are flat: `[name, value, name,
 * value, ...]`, with names as received. No type of an engine (node:http) appears here, so the engine can be replaced without
 * changing a policy. A response is given exactly once: by `respond`, or by `writeHead`, then `write` and `end`. Calls after the
 * client left, or after the response ended, do nothing.
 */
export interface Exchange extends RequestVariables {
  /** State shared by the requests of one gateway process. */
  readonly gateway: GatewayContext;

  /** Time when its head had arrived, in milliseconds of the monotonic clock, which the system's clock does not change. */
  readonly started: number;
  /** Target in origin form, exactly as received: `/a%20b?c=d`; `reroute` may have changed it. */
  readonly target: string;
  /** `http` or `https`. */
  readonly scheme: "http" | "https";
  /** Query string without its `?`; empty if absent. */
  readonly query: string;
  /** Host without the port, in lower case: hostnames are matched against it. */
  readonly hostname: string;
  /** Server name of the client's TLS handshake (SNI), in lower case; `undefined` without TLS or a name. */
  readonly serverName: string | undefined;
  /** Address of the client, as the connection has it. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Address of the gateway's end of the connection. */
  readonly localAddress: string;
  readonly localPort: number;
  /** Whether a request body was announced (`Content-Length` above zero, or chunked). */
  readonly hasBody: boolean;

  /** Header list for the upstream: the client's headers, as changed by policies. */
  readonly requestHeaders: readonly string[];
  /**
   * The same as HTTP/1.1 lines with their line breaks, without Host and the fields of the client's connection; `undefined` if
   * policies changed them, or if they were not received so.
   */
  readonly requestLines: string | undefined;
  /**
   * Whether `header` or `headerMap` has read a header with several lines, of which a server may read another one than rules do.
   */
  readonly hasReadRepeated: boolean;
  /** Whether the request may contain `traceparent` or `tracestate`; if not, callers can skip the search. */
  readonly mayHaveTraceContext: boolean;
  /** Replaces all request headers of that name (lower case); `header` no longer returns the client's value either. */
  setRequestHeader(name: string, value: string): void;
  /** Adds a request header next to those of the same name. */
  addRequestHeader(name: string, value: string): void;
  /** Replaces all headers except Host. */
  replaceRequestHeaders(headers: readonly string[]): void;
  /** Removes every request header of that name (lower case). */
  removeRequestHeader(name: string): void;

  /** The gateway's own tokens that were removed from the request; `undefined` if it had none. */
  shownTokens: ShownTokens | undefined;

  /** Changes the request before a route is chosen, for routes, policies and upstreams. Absent parts stay. */
  reroute(changes: RequestLineChanges): void;
  /** The request as the client sent it. */
  readonly original: SentRequestLine;

  /** Target in origin form, byte for byte as received. */
  readonly sentTarget: string;
  /**
   * Whether servers may read the path differently; only ports with a listener that forwards paths unchanged accept such a
   * request.
   */
  readonly hasAmbiguousPath: boolean;
  /** Set by a listener: the path is forwarded as received, unless a policy has changed it. */
  keepsPath: boolean;

  /** Method for the upstream; `method`, `target` and `host` still describe the client's request. */
  upstreamMethod: string;
  /** In origin form. */
  upstreamTarget: string;
  /** Host chosen by a policy; null for the upstream's own; `undefined` if no policy chose one (see `forward`). */
  upstreamHost: string | null | undefined;

  /**
   * Reads the whole request body, at most `limit` bytes, or returns why that failed; `readWhole` (buffer-body.ts) sends the
   * responses for that. Synchronous if it has arrived. Later calls return the same bytes, which are held, and counted, until
   * the exchange is over.
   */
  readBody(limit: number): MaybePromise<Buffer | BodyProblem>;
  /** Shows the pieces of the request body to an observer as they are read. Called before anything reads the body. */
  observeRequestBody(observer: BodyObserver): void;
  /** Creates a buffer for a message that lives as long as this exchange; its bytes count against the process's budget. */
  newBuffer(): CountedBuffer;
  /**
   * Request body for one upstream call: null without a body, bytes after `readBody`, otherwise the body as it arrives, which
   * can be read once.
   */
  readonly body: Uint8Array | BodySource | null;
  /** Content of the request body for expressions, after a policy has buffered it (`bufferBody`). */
  bufferedBody: Uint8Array | undefined;
  /** Filter of the request's trailers; `undefined` without any. */
  readonly requestTrailers: RequestTrailers | undefined;
  /** Replaces the body for the upstream: by bytes, or by the client's body passed through a policy. */
  setRequestBody(body: Uint8Array | BodySource): void;

  /** Whether it is known that the body is no batch of messages (mcp/batch). */
  isOneMessage: boolean;

  /** Sets a header of any response to this exchange, from the gateway or the upstream; replaces one of the same name. */
  setResponseHeader(name: string, value: string): void;
  /** Adds a header to any response to this exchange, next to those of the same name (`Vary`). */
  addResponseHeader(name: string, value: string): void;
  /** Sets a header only if one of that name exists, or only if none does. */
  setResponseHeaderIf(isThere: boolean, name: string, value: string): void;
  /** Removes every header of that name (lower case) from any response to this exchange. */
  removeResponseHeader(name: string): void;

  /** Passes every later response through the sink that `filter` returns. */
  interceptResponse(filter: (next: ResponseSink) => ResponseSink): void;
  /** Responds with a complete message. `headers` is a flat list; Content-Length is set from the body. */
  respond(status: number, headers: readonly string[], body?: string | Uint8Array): void;
  /**
   * Starts a response whose body follows with `write` and `end`. `length`: bytes of the body if known. The lists never contain
   * Content-Length, Transfer-Encoding or Connection: framing is created here, never copied.
   */
  writeHead(status: number, headers: readonly string[], length?: number): void;
  /** Starts a response with received fields, which stay as they are unless a policy changes them. */
  passHead(status: number, fields: ReceivedFields): void;
  /** Responds with received fields, additional ones, and the whole body. */
  passWhole(status: number, fields: ReceivedFields, added: AddedFields, body: Uint8Array): void;
  /** Protocol that the client requests for its connection (RFC 9110 7.8), as received; `undefined` if none. */
  readonly upgrade: string | undefined;
  /**
   * Responds with 101 if `upgrade` is set: from then on, `write` and `end` carry bytes of the other protocol, and the result is
   * the client's bytes. `headers` without Connection and Upgrade.
   */
  switchProtocols(headers: readonly string[]): BodySource;
  /** Whether the client requests a tunnel to `host` (CONNECT, RFC 9110 9.3.6); its target is `/`, because CONNECT has none. */
  readonly isTunnel: boolean;
  /**
   * Responds with 200 if `isTunnel`: from then on, `write` and `end` carry the tunnel's bytes, and the result is the client's
   * bytes.
   */
  openTunnel(): BodySource;
  /** Sends a piece of the body. Returns false if the client reads slowly: wait for `onDrain` before the next piece. */
  write(chunk: string | Uint8Array): boolean;
  /** The connection that gets written pieces as they are, with what it keeps of them; `undefined` if something may change them. */
  readonly borrower: Borrower | undefined;
  /** Called each time a full buffer was emptied after `write` returned false. Only the last listener counts. */
  onDrain(listener: () => void): void;
  /** Ends the body. `trailers`: a flat list of fields, sent if the client accepts them. */
  end(trailers?: readonly string[]): void;
  /** Whether the client accepts trailers (`te: trailers`) and the connection can carry them. */
  readonly acceptsTrailers: boolean;
  /** Aborts the connection, because a response that cannot be completed must not look complete. */
  abort(): void;
  /**
   * Withdraws an incomplete response while a policy holds its head, so that another one can be given. Returns false if the
   * client has the head.
   */
  withdrawResponse(): boolean;
  /** Status of the response as sent; `undefined` before. */
  readonly responseStatus: number | undefined;
  /** Header list of the response as sent; empty before. */
  readonly responseHeaders: readonly string[];
  /** Trailers of the response as sent; empty without any. */
  readonly responseTrailers: readonly string[];
  /** Content-Type of the response; `undefined` if absent. */
  readonly responseType: string | undefined;
  /** Whether `respond` or `writeHead` was called. */
  readonly headersSent: boolean;
  /** Whether the response ended or the client left: nothing more can be sent. */
  readonly isOver: boolean;
  /**
   * Called once if the client leaves before the response has ended; synchronously if it already has. Any number of listeners.
   */
  onAbort(listener: () => void): void;
  /** Called once when the exchange is over and everything known about it is recorded. */
  onClose(listener: () => void): void;

  /** Results of policies, for the route if they ran before it was chosen, and for the log. */
  readonly attributes: RequestAttributes;
  /** Credentials that policies removed from the request, the latest first. */
  strippedCredentials: StrippedCredential | undefined;

  /** Called with the claims of a user who logs out; absent if nothing has to end then. */
  onLogout?: (claims: JwtVariable) => Promise<void>;
  /** Format of refusals: plain text, unless the route's protocol has errors of its own. */
  refusalFormat: RefusalFormat;
  /** Further data of the request for the access log and the metrics. */
  readonly record: ExchangeRecord;
  /** Bodies that expressions of the log read; `undefined` if none does. */
  captured: CapturedVariables | undefined;
  /** The recorded trace of the exchange; `undefined` if it is not recorded. */
  trace: ExchangeTrace | undefined;
}

/** Data of one request that policies and backends add for the access log and the metrics. */
export interface ExchangeRecord {
  /** Name of the route; `undefined` until one matched. */
  route: string | undefined;
  /** Name of the listener; `undefined` until one matched. */
  listener: string | undefined;
  /** Why the gateway itself responded: a label of the refusal table in the README. */
  reason: RefusalReason | undefined;
  /** `host:port` of the called upstream. */
  upstream: string | undefined;
  /** Identity from an API key or a password, for what belongs to one client (an MCP session); never logged. */
  caller: string | undefined;
  /** Verified callers, one for each kind of credential; `undefined` if the request is anonymous. */
  callers: readonly CallerIdentity[] | undefined;
  /** Trace id (32 hex digits), recorded or not; `undefined` if unknown. */
  traceId: string | undefined;
  /** Span id (16 hex digits); `undefined` if not recorded. */
  spanId: string | undefined;
  /** Counters of the tokens that the request uses. */
  tokenCounters: TokenCounter[] | undefined;
  /** Stores the usage of a model call; `undefined` if usage is not stored. */
  onModelUsage: ((call: LlmCall) => void) | undefined;
  /** Checks to run before a model is called, added when it was not known yet whether the request is for one. */
  callAdmissions: CallAdmission[] | undefined;
  /** Further log fields by name, in the order in which they were set: `jwt.sub`, `mcp.method.name`, `gen_ai.tool.name`, ... */
  fields: NotedFields | undefined;
}

/** Verified caller of a request. */
export interface CallerIdentity {
  /** Credential that names the caller; `key-digest` for API keys without a name. */
  readonly kind: "jwt" | "key" | "key-digest" | "user";
  /** Subject of a token, name or first digits of the digest of an API key, or user of a password. */
  readonly name: string;
  /** Issuer of the token; absent for other credentials. */
  readonly issuer?: string | undefined;
}

/** Returns the further log fields of a request, to add to. */
export function logFields(record: ExchangeRecord): NotedFields {
  record.fields ??= new NotedFields();
  return record.fields;
}

/** Whether a model may be called. Returns false if the request was answered. */
export type CallAdmission = () => boolean | Promise<boolean>;

/** Counts the tokens that a request uses. */
export interface TokenCounter {
  /** Reserves the expected usage of a call. Returns false if too little is left; the request was then answered. */
  expect(call: LlmCall): MaybePromise<boolean>;
  /** Records the usage of a call once it is known, instead of the expected one. */
  count(call: LlmCall): void;
  /** Releases reservations that were not used. */
  release(): void;
}

/** Why the gateway itself responded: a label with few values, for logs and metrics. */
export type RefusalReason =
  | "NotFound"
  | "Misdirected"
  | "BadRequest"
  | "JwtAuth"
  | "Oidc"
  | "BasicAuth"
  | "APIKeyAuth"
  | "ExtAuth"
  | "Authorization"
  | "ToolLock"
  | "ForbiddenDestination"
  | "Csrf"
  | "RateLimit"
  | "StoreAway"
  | "PromptGuard"
  | "ExtProc"
  | "Custom"
  | "BodyTooLarge"
  | "SlowBody"
  | "NoBufferSpace"
  | "MCP"
  | "DirectResponse"
  | "Redirect"
  | "NoHealthyBackend"
  | "UpstreamFailure"
  | "Timeout"
  | "ClientClosed"
  | "Draining"
  | "Internal";

/** Result of a route's `handle`: nothing, or a promise without a value. */
export type Handled = void | Promise<void>;

/** Handles the requests of a listener or a route. */
export type Handler = (exchange: Exchange) => Handled;

/** Adds a check that only runs if the request turns out to be for a model. */
export function askBeforeCall({ record }: Exchange, admission: CallAdmission): void {
  record.callAdmissions ??= [];
  record.callAdmissions.push(admission);
}

/** Runs the checks that were added before routing. Returns false if the request was answered. */
export async function admitCall({ record }: Exchange): Promise<boolean> {
  for (const admission of record.callAdmissions ?? []) if (!(await admission())) return false;
  return true;
}
