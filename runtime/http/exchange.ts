import type {
  ApiKeyVariable,
  BasicAuthVariable,
  JwtVariable,
  LlmCall,
  LlmVariable,
  PolicyVariable,
  RequestVariables,
} from "../cel/variables.ts";
import type { GatewayContext } from "../process/gateway-context.ts";
import type { MaybePromise } from "../process/maybe-promise.ts";
import type { BodyProblem, BodySource } from "./body/body.ts";
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

/** Whether a caller may ask for a model, by the name that clients use. */
export type ModelTest = (model: string) => boolean;

/** What the policies of a request found out, for what is decided elsewhere: variables of expressions are null without it. */
export class RequestAttributes {
  jwt: JwtVariable = null;
  apiKey: ApiKeyVariable = null;
  basicAuth: BasicAuthVariable = null;
  extauthz: PolicyVariable = null;
  extproc: PolicyVariable = null;
  metadata: PolicyVariable = null;
  llm: LlmVariable = null;
  /** Which models the caller may ask for; undefined: any. */
  allowedModels: ModelTest | undefined = undefined;
}

/** What a request showed of the gateway's own tokens (own-tokens.ts), as its client sent it. */
export interface ShownTokens {
  /** All its cookies; `undefined` if none was the gateway's own. */
  readonly cookies: string | undefined;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
}

/**
 * One request and its response, as generated code, policies and backends see it.
 *
 * Header lists are flat: `[name, value, name, value, ...]`, names as they were sent. No engine type (node:http)
 * shows here, so the engine below can be replaced without touching a policy.
 *
 * A response is given exactly once: by `respond`, or by `writeHead` and then `write` and `end`. Calls after the client
 * left, or after the response ended, do nothing.
 */
export interface Exchange extends RequestVariables {
  /** What the requests of one gateway process share. */
  readonly gateway: GatewayContext;

  /** When its head had arrived, in milliseconds of the monotonic clock: steps of the system's clock don't show in it. */
  readonly started: number;
  /** The request target in origin form, exactly as sent: `/a%20b?c=d`; `reroute` may have changed it. */
  readonly target: string;
  /** `http` or `https`. */
  readonly scheme: "http" | "https";
  /** The query string without its `?`; empty when there is none. */
  readonly query: string;
  /** The host part of `host`, lower case, without the port: what hostnames are matched against. */
  readonly hostname: string;
  /** The server that the client named in its TLS handshake (SNI), lower case; undefined without TLS or a name. */
  readonly serverName: string | undefined;
  /** The client's address, as the connection has it. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The gateway's own end of the client's connection. */
  readonly localAddress: string;
  readonly localPort: number;
  /** True when a request body was announced (`Content-Length` above zero, or chunked). */
  readonly hasBody: boolean;

  /** The header list that goes upstream: what the client sent, less and plus what policies changed. */
  readonly requestHeaders: readonly string[];
  /**
   * The same as lines of HTTP/1.1, each with its line break, without Host and what belongs to the client's connection;
   * undefined: they are not what the client sent, or did not come so.
   */
  readonly requestLines: string | undefined;
  /** A header that `header` or `headerMap` has read has several lines: servers may read another one than rules. */
  readonly hasReadRepeated: boolean;
  /** False: neither `traceparent` nor `tracestate` is among them, and nobody has to look. */
  readonly mayHaveTraceContext: boolean;
  /** Replaces every request header of that name (lower case) with one; the client's own value is gone for `header` too. */
  setRequestHeader(name: string, value: string): void;
  /** Adds a request header; those of the same name stay. */
  addRequestHeader(name: string, value: string): void;
  /** These headers stand in the place of all but Host. */
  replaceRequestHeaders(headers: readonly string[]): void;
  /** Removes every request header of that name (lower case). */
  removeRequestHeader(name: string): void;

  /** The gateway's own tokens that were taken off the request; `undefined` if it showed none. */
  shownTokens: ShownTokens | undefined;

  /**
   * Before a route is chosen: from here on the request is this one, for routes, policies and upstreams. What is not
   * given stays.
   */
  reroute(changes: RequestLineChanges): void;
  /** What the client sent, whatever became of it. */
  readonly original: SentRequestLine;

  /** The target in origin form, byte for byte as it was sent. */
  readonly sentTarget: string;
  /** Two servers may read the path differently; only ports with a listener that keeps paths let such a request in. */
  readonly hasAmbiguousPath: boolean;
  /** Set by a listener: the path goes upstream as it was sent, unless a policy has changed it. */
  keepsPath: boolean;

  /** What goes upstream instead of the client's own; `method`, `target` and `host` go on saying what the client sent. */
  upstreamMethod: string;
  /** In origin form. */
  upstreamTarget: string;
  /** The Host that a policy decided on; null: the upstream's own; undefined: none did (`forward` says what holds then). */
  upstreamHost: string | null | undefined;

  /**
   * The whole request body, at most `limit` bytes, or why it can't be had: `bodyRefusals` (buffer-body.ts) says what the
   * client gets then. At once when it has come already. May be called again: the bytes are kept, and count, until the exchange is over.
   */
  readBody(limit: number): MaybePromise<Buffer | BodyProblem>;
  /** A place to gather a message in, for as long as this exchange lasts: what is held counts against the process's budget. */
  newBuffer(): CountedBuffer;
  /**
   * The request body for one upstream call: null without a body, the bytes when `readBody` has them, else the body as
   * it arrives (it can then be read by nobody else).
   */
  readonly body: Uint8Array | BodySource | null;
  /** The content of the request body for expressions, once a policy has buffered it (`bufferBody`). */
  bufferedBody: Uint8Array | undefined;
  /** What may stand behind the request body; undefined: nothing. */
  readonly requestTrailers: RequestTrailers | undefined;
  /** Another body goes upstream from here on: bytes of a policy, or the client's body passed through one. */
  setRequestBody(body: Uint8Array | BodySource): void;

  /** Adds a header to whatever response this exchange gets, made here or upstream; replaces one of the same name. */
  setResponseHeader(name: string, value: string): void;
  /** Adds a header to whatever response this exchange gets; those of the same name stay (`Vary`). */
  addResponseHeader(name: string, value: string): void;
  /** As `setResponseHeader`, but only where a header of that name is there already, or only where there is none. */
  setResponseHeaderIf(isThere: boolean, name: string, value: string): void;
  /** Removes every header of that name (lower case) from whatever response this exchange gets. */
  removeResponseHeader(name: string): void;

  /** From here on every response goes through what `filter` makes of the way to the client. */
  interceptResponse(filter: (next: ResponseSink) => ResponseSink): void;
  /** Answers at once. `headers` is a flat list; Content-Length is set from the body. */
  respond(status: number, headers: readonly string[], body?: string | Uint8Array): void;
  /**
   * Starts a response whose body follows through `write` and `end`. `length`: the bytes of the body when they are known.
   * The lists never hold Content-Length, Transfer-Encoding or Connection: framing is made here, never copied.
   */
  writeHead(status: number, headers: readonly string[], length?: number): void;
  /** The same with the fields of a response that was received, which go on as they came unless a policy changes them. */
  passHead(status: number, fields: ReceivedFields): void;
  /** Answers at once with such fields, and with others, which are not among them. */
  passWhole(status: number, fields: ReceivedFields, added: AddedFields, body: Uint8Array): void;
  /** The protocol that the client asks its connection to change to (RFC 9110 7.8), as sent; undefined: none. */
  readonly upgrade: string | undefined;
  /**
   * Answers 101 where `upgrade` is not undefined: `write` and `end` carry bytes of the other protocol from here on, and
   * what comes back is what the client sends. `headers` without Connection and Upgrade.
   */
  switchProtocols(headers: readonly string[]): BodySource;
  /** The client asks for a tunnel to `host` (CONNECT, RFC 9110 9.3.6); its target is `/`, as it names none. */
  readonly isTunnel: boolean;
  /**
   * Answers 200 where `isTunnel`: `write` and `end` carry the tunnel's bytes from here on, and what comes back is what the
   * client sends.
   */
  openTunnel(): BodySource;
  /** Sends a piece of the body at once. False: the client reads slowly; wait for `onDrain` before the next piece. */
  write(chunk: string | Uint8Array): boolean;
  /** All that was written has left the process: its bytes may change. False as well where that is not known. */
  readonly holdsNothing: boolean;
  /** Called each time a full buffer was emptied after `write` returned false. One listener; the last one set counts. */
  onDrain(listener: () => void): void;
  /** Ends the body. `trailers`: a flat list of fields behind it, sent where the client takes them. */
  end(trailers?: readonly string[]): void;
  /** The client takes trailers (`te: trailers`), and the connection can carry them. */
  readonly acceptsTrailers: boolean;
  /** Breaks the connection off: the only honest end of a response that can't be completed. */
  abort(): void;
  /**
   * Takes a response back that can't be completed, while a policy holds its head: another one can be given. False: the
   * client has it.
   */
  withdrawResponse(): boolean;
  /** The status of the response as it was sent; undefined before. */
  readonly responseStatus: number | undefined;
  /** The header list of the response as it was sent; empty before. */
  readonly responseHeaders: readonly string[];
  /** Its Content-Type; undefined without one. */
  readonly responseType: string | undefined;
  /** True once `respond` or `writeHead` was called. */
  readonly headersSent: boolean;
  /** True once the response ended or the client left: nothing more can be sent. */
  readonly isOver: boolean;
  /** Called once when the client leaves before the response ended; at once when it already has. Any number of listeners. */
  onAbort(listener: () => void): void;
  /** Called once when the exchange is over, one way or the other, and all that is known of it is noted. */
  onClose(listener: () => void): void;

  /** What policies found out, for the route where they ran before it was chosen, and for the log. */
  readonly attributes: RequestAttributes;
  /** The credentials that policies took off the request, the last one first. */
  strippedCredentials: StrippedCredential | undefined;

  /** How a refusal is written: a small text, unless the route speaks a protocol with errors of its own. */
  refusalFormat: RefusalFormat;
  /** What the access log and the metrics say about this request beyond its head. */
  readonly record: ExchangeRecord;
  /** Where it is recorded as a part of a trace; undefined: it is not. */
  trace: ExchangeTrace | undefined;
}

/** The facts of one request that policies and backends add for the access log and the metrics. */
export interface ExchangeRecord {
  /** The route's name; `undefined` until one matched. */
  route: string | undefined;
  /** The listener's name; `undefined` until one matched. */
  listener: string | undefined;
  /** Why the gateway itself answered: a label of the refusal table in the README. */
  reason: RefusalReason | undefined;
  /** `host:port` of the upstream that was called. */
  upstream: string | undefined;
  /** Who an API key or a password says the client is, for what belongs to one client (an MCP session); never logged. */
  caller: string | undefined;
  /** The trace that it is a part of, recorded or not: 32 hex digits; undefined: none that is known. */
  traceId: string | undefined;
  /** The span that records it: 16 hex digits; undefined: none does. */
  spanId: string | undefined;
  /** Who counts the tokens of models that the request uses. */
  tokenCounters: TokenCounter[] | undefined;
  /** What is asked before models are, where it was not yet known whether the request is for one. */
  callAdmissions: CallAdmission[] | undefined;
  /** Further log fields by name, in the order they were set: `jwt.sub`, `mcp.method.name`, `gen_ai.tool.name`, ... */
  fields: NotedFields | undefined;
}

/** The further log fields of a request, to add to. */
export function logFields(record: ExchangeRecord): NotedFields {
  record.fields ??= new NotedFields();
  return record.fields;
}

/** Whether a call of a model may go out. False: the request was answered. */
export type CallAdmission = () => boolean | Promise<boolean>;

/** Counts what a request uses of models. */
export interface TokenCounter {
  /** Takes what a call is expected to use. False: there is not so much, and the request was answered. */
  expect(call: LlmCall): boolean;
  /** Takes what a call has used, when that is known, in the place of what was expected of it. */
  count(call: LlmCall): void;
  /** Nothing more is used: what is still only expected is given back. */
  release(): void;
}

/** Why a request was answered by the gateway itself; a label with few values, for logs and metrics. */
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
  | "PromptGuard"
  | "ExtProc"
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

/** What a route's `handle` returns: nothing, or a promise of it. The promise never carries a value. */
export type Handled = void | Promise<void>;

/** Answers the requests of a listener or a route. */
export type Handler = (exchange: Exchange) => Handled;

/** Has a question asked when the request turns out to be for a model: requests for something else are not asked it. */
export function askBeforeCall({ record }: Exchange, admission: CallAdmission): void {
  record.callAdmissions ??= [];
  record.callAdmissions.push(admission);
}

/** Whether a call of a model may go out, as far as was asked before routing. False: the request was answered. */
export async function admitCall({ record }: Exchange): Promise<boolean> {
  for (const admission of record.callAdmissions ?? []) if (!(await admission())) return false;
  return true;
}
