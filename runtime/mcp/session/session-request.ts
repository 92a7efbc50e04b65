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
  /** The trace of the client's request; undefined: it has none. */
  readonly trace: ExchangeTrace | undefined;
  /** What the body says; undefined: there is none. */
  readonly message: Message | undefined;
  /** Undefined: the request belongs to no session, or opens one. */
  readonly session: HttpSession | undefined;
  /** The client's session that it is a part of: renewed as long as that one goes on. */
  readonly owner: SessionOwner | undefined;
  readonly method: "GET" | "POST" | "DELETE";
  /** End-to-end headers of the client, and Host (see upstream-headers.ts). */
  readonly headers: readonly string[];
  /** The client's `MCP-Protocol-Version`, for a session that has none of its own. */
  readonly version: string | undefined;
  /** False when the response has to be readable here: no compression is offered. */
  readonly acceptEncoding: string | undefined;
  readonly lastEventId: string | undefined;
  readonly body: Uint8Array | string | null;
}

/** What is asked of the client's session before one of its targets' sessions is renewed. */
export type SessionOwner = Pick<McpSession, "initialize" | "isEnded">;

/**
 * Sends a request within a session of the target's, to the replica at which that began. When it has forgotten the session
 * (404), the session is opened anew there, and at another one when it has left; the request is sent once more, and the
 * handler sees only what comes of it.
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
 * What a client's request asks for in a session of a target's, by headers that the target may read. The client itself may
 * speak the revision without sessions.
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
  const said = exchange.header("mcp-protocol-version");
  const version = said !== undefined && SESSION_REVISIONS.has(said) ? said : undefined;
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
  /** What it was sent to. */
  #server: Upstream;
  /** Where the session may begin if it can't be begun here. */
  #untried: readonly Replica[] = [];
  /** The session, while its replica is being chosen. */
  #opening: HttpSession | undefined;
  #sentId = "";
  #isRetry = false;
  /** The 404 that starts a renewal is not the client's business. */
  #isDiscarding = false;
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
    else if (session.endpoint !== undefined) void this.#goOn(replicas, session.endpoint);
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
    // Without an id of the server's, every replica serves what follows.
    if (this.#opening !== undefined && headerValue(headers, SESSION_HEADER) === undefined)
      this.#opening.endpoint = undefined;
    if (status !== 404 || !this.#canRenew()) {
      // It is not sent again, and its response may be long in coming.
      this.#options = { ...this.#options, message: undefined, body: null };
      this.#handler.onHead(status, headers);
      return;
    }
    this.#isDiscarding = true;
    this.#isRetry = true;
    void this.#renew(this.#server);
  }

  onData(chunk: Buffer): boolean {
    return this.#isDiscarding || this.#handler.onData(chunk);
  }

  onEnd(): void {
    if (!this.#isDiscarding) this.#handler.onEnd();
  }

  onError(failure: UpstreamFailure): void {
    if (this.#isDiscarding) return;
    const [next, ...others] = this.#untried;
    const isUnreached = failure.kind === "connect" && failure.isForbidden !== true;
    if (isUnreached && next !== undefined) this.#beginAt(next, others);
    else this.#handler.onError(failure);
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

  async #goOn(replicas: Replicas, endpoint: string): Promise<void> {
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

  /** The replica has left: no other one knows the session by its id. */
  #leave(): void {
    if (!this.#canRenew()) {
      this.#refuse();
      return;
    }
    this.#isRetry = true;
    void this.#renew(undefined);
  }

  /** There is no such session any more: its client opens another one. */
  #refuse(): void {
    this.#handler.onHead(404, []);
    this.#handler.onEnd();
  }

  #canRenew(): boolean {
    const { method, owner } = this.#options;
    if (this.#sentId === "" || this.#isRetry || method === "DELETE") return false;
    return owner?.initialize !== undefined && !owner.isEnded;
  }

  /** `server`: the replica that has forgotten the session; undefined: it has left. */
  async #renew(server: Upstream | undefined): Promise<void> {
    const { session, owner } = this.#options;
    const initialize = owner?.initialize;
    if (session === undefined || initialize === undefined) return;
    // Another request may have renewed it while this one was under way.
    if (session.id === this.#sentId) {
      session.renewal ??= this.#reopen(session, initialize, server).finally(() => {
        session.renewal = undefined;
      });
    }
    const isRenewed = await (session.renewal ?? true);
    if (this.#isAborted) return;
    if (isRenewed) {
      this.start();
      return;
    }
    this.#isDiscarding = false;
    this.#refuse();
  }

  /** True when the session is open anew, at the same replica or, without one, at another. */
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

/** Replicas at which a session may be opened anew: its request waits meanwhile. */
const MAX_TRIES = 3;
const SESSION_HEADER = "mcp-session-id";
const ANY_RESPONSE = "application/json, text/event-stream";
