import type { Exchange } from "../../http/exchange.ts";
import type { ExchangeTrace } from "../../http/exchange-trace.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import { sendInSpan } from "../../http/upstream/traced-request.ts";
import type {
  AbortReason,
  Upstream,
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import { SESSION_REVISIONS } from "../protocol/revisions.ts";
import { beginMcpCall, textWithTrace } from "../transports/call-span.ts";
import type { Replica, Replicas } from "../transports/replicas.ts";
import type { StreamableHttpTarget } from "../transports/target.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";
import type { HttpSession, McpSession } from "./session.ts";
import { reinitializeSession } from "./session-reinitialize.ts";

/** One request to a streamable HTTP target. */
export interface SessionRequestOptions {
  readonly target: StreamableHttpTarget;
  /** The trace of the client's request; `undefined` if it has none. */
  readonly trace: ExchangeTrace | undefined;
  /** The message in the body; `undefined` if there is no body. */
  readonly message: Message | undefined;
  /** `undefined` if the request belongs to no session or opens one. */
  readonly session: HttpSession | undefined;
  /** The client's session; the target's session is renewed until this one ends. */
  readonly owner: SessionOwner | undefined;
  readonly method: "GET" | "POST" | "DELETE";
  /** End-to-end headers of the client, and Host (see upstream-headers.ts). */
  readonly headers: readonly string[];
  /** The client's `MCP-Protocol-Version`, for a session without a version of its own. */
  readonly version: string | undefined;
  /** `undefined` if the response has to be read here, so that no compression is offered. */
  readonly acceptEncoding: string | undefined;
  readonly lastEventId: string | undefined;
  readonly body: Uint8Array | string | null;
}

/** The parts of a client's session that decide whether a target's session can be renewed. */
export type SessionOwner = Pick<McpSession, "initialize" | "isEnded">;

/**
 * Sends a request in a session of the target to the replica that opened it. If that replica has forgotten the session
 * (404), the session is reopened there; if the replica is gone, at another one. The request is then retried, and the
 * handler sees only the final response.
 */
export function sendInSession(
  options: SessionRequestOptions,
  handler: UpstreamHandler,
): UpstreamRequest {
  const request = new SessionRequest(options, handler);
  request.start();
  return request;
}

/**
 * Sends a client's request in a session of a target, with headers that the target may read. The client itself may speak the
 * revision without sessions.
 */
export function openInSession(
  { exchange, session: owner }: { readonly exchange: Exchange; readonly session: SessionOwner },
  options: Pick<
    SessionRequestOptions,
    "target" | "session" | "method" | "lastEventId" | "message" | "body"
  >,
  handler: UpstreamHandler,
): UpstreamRequest {
  const headers = headersForTarget(exchange, options.target);
  const declared = exchange.header("mcp-protocol-version");
  const version = declared !== undefined && SESSION_REVISIONS.has(declared) ? declared : undefined;
  const { trace } = exchange;
  return sendInSession(
    { ...options, trace, owner, headers, version, acceptEncoding: undefined },
    handler,
  );
}

class SessionRequest implements UpstreamHandler, UpstreamRequest {
  #options: SessionRequestOptions;
  readonly #handler: UpstreamHandler;
  #request: UpstreamRequest | undefined;
  /** The server that it was sent to. */
  #server: Upstream;
  /** Replicas to try if the session cannot be opened at this one. */
  #untried: readonly Replica[] = [];
  /** The session, while its replica is being chosen. */
  #opening: HttpSession | undefined;
  #sentId = "";
  #isRetry = false;
  /** Whether the response starts a renewal, so that the client must not see it. */
  #isDiscarding = false;
  /** A 400 whose body may say that the server has forgotten the session; `undefined` if the response is another one. */
  #doubtful: DoubtfulResponse | undefined;
  #isAborted = false;

  constructor(options: SessionRequestOptions, handler: UpstreamHandler) {
    this.#options = options;
    this.#handler = handler;
    this.#server = options.target.upstream;
  }

  start(): void {
    const { session, message, target } = this.#options;
    const { replicas, upstream } = target;
    this.#sentId = session?.id ?? "";
    this.#isDiscarding = false;
    if (replicas.isOne || session === undefined) this.#send(upstream);
    else if (session.endpoint !== undefined) void this.#sendToReplica(replicas, session.endpoint);
    else if (message?.method === "initialize") void this.#begin(replicas, session);
    else this.#send(upstream);
  }

  abort(reason?: AbortReason): void {
    this.#isAborted = true;
    this.#request?.abort(reason);
  }

  resume(): void {
    this.#request?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    // If the server sends no id, every replica can serve the following requests.
    if (this.#opening !== undefined && headerValue(headers, SESSION_HEADER) === undefined)
      this.#opening.endpoint = undefined;
    if (status === 400 && this.#canRenew()) {
      this.#doubtful = { headers, chunks: [], size: 0 };
      return;
    }
    if (status !== 404 || !this.#canRenew()) {
      // It is not sent again; a slow response must not keep its body in memory.
      this.#options = { ...this.#options, message: undefined, body: null };
      this.#handler.onHead(status, headers);
      return;
    }
    this.#renewAtServer();
  }

  onData(chunk: Buffer): boolean {
    const doubtful = this.#doubtful;
    if (doubtful === undefined) return this.#isDiscarding || this.#handler.onData(chunk);
    doubtful.chunks.push(chunk);
    doubtful.size += chunk.length;
    return doubtful.size <= MAX_DOUBTFUL || this.#deliver(doubtful);
  }

  onEnd(): void {
    const doubtful = this.#doubtful;
    if (doubtful !== undefined && isAboutSession(doubtful)) {
      this.#doubtful = undefined;
      this.#renewAtServer();
      return;
    }
    if (doubtful !== undefined) this.#deliver(doubtful);
    if (!this.#isDiscarding) this.#handler.onEnd();
  }

  onError(failure: UpstreamFailure): void {
    if (this.#isDiscarding) return;
    if (this.#doubtful !== undefined) this.#deliver(this.#doubtful);
    const [next, ...others] = this.#untried;
    const isUnreached = failure.kind === "connect" && failure.isForbidden !== true;
    if (isUnreached && next !== undefined) this.#beginAt(next, others);
    else this.#handler.onError(failure);
  }

  /** Forwards a 400 that is not about the session. */
  #deliver({ headers, chunks }: DoubtfulResponse): boolean {
    this.#doubtful = undefined;
    this.#options = { ...this.#options, message: undefined, body: null };
    this.#handler.onHead(400, headers);
    return chunks.map((chunk) => this.#handler.onData(chunk)).every((isTaken) => isTaken);
  }

  #renewAtServer(): void {
    this.#isDiscarding = true;
    this.#isRetry = true;
    void this.#renew(this.#server);
  }

  async #begin(replicas: Replicas, session: HttpSession): Promise<void> {
    const [first, ...others] = await replicas.forNewSession();
    if (this.#isAborted) return;
    this.#opening = session;
    if (first === undefined) this.#send(replicas.any);
    else this.#beginAt(first, others);
  }

  #beginAt([endpoint, server]: Replica, others: readonly Replica[]): void {
    this.#untried = others;
    if (this.#opening !== undefined) this.#opening.endpoint = endpoint;
    this.#send(server);
  }

  async #sendToReplica(replicas: Replicas, endpoint: string): Promise<void> {
    const server = await replicas.ofSession(endpoint);
    if (this.#isAborted) return;
    if (server === undefined) this.#leave();
    else if (server instanceof Error) this.onError({ kind: "connect", detail: server.message });
    else this.#send(server);
  }

  #send(server: Upstream): void {
    const { target, method, message, body, trace } = this.#options;
    this.#server = server;
    const { path } = server;
    const headers = requestHeaders(this.#options);
    const span = beginMcpCall(trace, target, message, method);
    const sent = (span && message && textWithTrace(message, span, headers)) ?? body;
    this.#request = sendInSpan(span, server, { method, path, headers, body: sent }, this);
  }

  /** Renews the session after its replica is gone: no other one knows its id. */
  #leave(): void {
    if (!this.#canRenew()) {
      this.#refuse();
      return;
    }
    this.#isRetry = true;
    void this.#renew(undefined);
  }

  /** Responds with 404, so that the client opens another session. */
  #refuse(): void {
    this.#handler.onHead(404, []);
    this.#handler.onEnd();
  }

  #canRenew(): boolean {
    const { method, owner } = this.#options;
    if (this.#sentId === "" || this.#isRetry || method === "DELETE") return false;
    return owner?.initialize !== undefined && !owner.isEnded;
  }

  /** Renews the session. `server`: the replica that has forgotten it; `undefined` if that replica is gone. */
  async #renew(server: Upstream | undefined): Promise<void> {
    const { session, owner } = this.#options;
    const initialize = owner?.initialize;
    if (session === undefined || initialize === undefined) return;
    // Another request may have renewed it while this one was in flight.
    if (session.id === this.#sentId) {
      session.renewal ??= this.#reopen(session, initialize, server).finally(() => {
        session.renewal = undefined;
      });
    }
    const isRenewed = await (session.renewal ?? true);
    if (this.#isAborted) return;
    if (isRenewed) {
      session.renewals += 1;
      this.start();
      return;
    }
    this.#isDiscarding = false;
    this.#refuse();
  }

  /** Reopens the session at the same replica or, if that is gone, at another one. Returns whether that worked. */
  async #reopen(
    session: HttpSession,
    initialize: string,
    server: Upstream | undefined,
  ): Promise<boolean> {
    const { target, headers, version } = this.#options;
    const options = { session, initialize, headers, version };
    if (server !== undefined) return reinitializeSession({ ...options, upstream: server });
    const replicas = await target.replicas.forNewSession();
    for (const [endpoint, upstream] of replicas.slice(0, MAX_TRIES)) {
      if (!(await reinitializeSession({ ...options, upstream }))) continue;
      session.endpoint = endpoint;
      return true;
    }
    return false;
  }
}

/** A 400 that is being read. */
interface DoubtfulResponse {
  readonly headers: readonly string[];
  readonly chunks: Buffer[];
  size: number;
}

/** Maximum number of bytes of a 400 that are read; messages about sessions are short. */
const MAX_DOUBTFUL = 4096;

/**
 * Whether a 400 says that a session is unknown. MCP requires 404; many servers answer as the examples of the first SDK do:
 * "Bad Request: No valid session ID provided".
 */
function isAboutSession({ chunks }: DoubtfulResponse): boolean {
  return /\bsession\b/i.test(Buffer.concat(chunks).toString("latin1"));
}

function requestHeaders(options: SessionRequestOptions): string[] {
  const { session, method, version, acceptEncoding, lastEventId } = options;
  const headers = [...options.headers];
  headers.push("accept", method === "GET" ? "text/event-stream" : ANY_RESPONSE);
  if (acceptEncoding !== undefined) headers.push("accept-encoding", acceptEncoding);
  if (method === "POST") headers.push("content-type", "application/json");
  const revision = session?.version || version;
  if (revision !== undefined) headers.push("mcp-protocol-version", revision);
  if (session !== undefined && session.id !== "") headers.push(SESSION_HEADER, session.id);
  if (lastEventId !== undefined) headers.push("last-event-id", lastEventId);
  return headers;
}

/** Maximum number of replicas that are tried for reopening a session, as its request waits meanwhile. */
const MAX_TRIES = 3;
const SESSION_HEADER = "mcp-session-id";
const ANY_RESPONSE = "application/json, text/event-stream";
