import type { Exchange } from "../../http/exchange.ts";
import type { ExchangeTrace } from "../../http/exchange-trace.ts";
import { sendInSpan } from "../../http/upstream/traced-request.ts";
import type {
  UpstreamFailure,
  UpstreamHandler,
  UpstreamRequest,
} from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import { sessionRevisions } from "../protocol/revisions.ts";
import { beginMcpCall } from "../transports/call-span.ts";
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
 * Sends a request within a session of the target's. When the target has forgotten the session (404), the session is opened
 * anew and the request sent once more; the handler sees only what comes of it.
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
  const version = said !== undefined && sessionRevisions.has(said) ? said : undefined;
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
  #sentId = "";
  #isRetry = false;
  /** The 404 that starts a renewal is not the client's business. */
  #isDiscarding = false;
  #isAborted = false;

  constructor(options: SessionRequestOptions, handler: UpstreamHandler) {
    this.#options = options;
    this.#handler = handler;
  }

  start(): void {
    const { target, method, message, body, session, trace } = this.#options;
    this.#sentId = session?.id ?? "";
    this.#isDiscarding = false;
    const { path } = target.upstream;
    const headers = requestHeaders(this.#options);
    const span = beginMcpCall(trace, target, message, method);
    this.#request = sendInSpan(span, target.upstream, { method, path, headers, body }, this);
  }

  abort(): void {
    this.#isAborted = true;
    this.#request?.abort();
  }

  resume(): void {
    this.#request?.resume();
  }

  onHead(status: number, headers: readonly string[]): void {
    if (status !== 404 || !this.#canRenew()) {
      // It is not sent again, and its response may be long in coming.
      this.#options = { ...this.#options, message: undefined, body: null };
      this.#handler.onHead(status, headers);
      return;
    }
    this.#isDiscarding = true;
    this.#isRetry = true;
    void this.#renew();
  }

  onData(chunk: Buffer): boolean {
    return this.#isDiscarding || this.#handler.onData(chunk);
  }

  onEnd(): void {
    if (!this.#isDiscarding) this.#handler.onEnd();
  }

  onError(failure: UpstreamFailure): void {
    if (!this.#isDiscarding) this.#handler.onError(failure);
  }

  #canRenew(): boolean {
    const { method, owner } = this.#options;
    if (this.#sentId === "" || this.#isRetry || method === "DELETE") return false;
    return owner?.initialize !== undefined && !owner.isEnded;
  }

  async #renew(): Promise<void> {
    const { target, session, owner, headers, version } = this.#options;
    const initialize = owner?.initialize;
    if (session === undefined || initialize === undefined) return;
    // Another request may have renewed it while this one was under way.
    if (session.id === this.#sentId) {
      session.renewal ??= reinitializeSession({
        target,
        session,
        initialize,
        headers,
        version,
      }).finally(() => {
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
    this.#handler.onHead(404, []);
    this.#handler.onEnd();
  }
}

function requestHeaders(options: SessionRequestOptions): string[] {
  const { session, method, version, acceptEncoding, lastEventId } = options;
  const headers = [...options.headers];
  headers.push("accept", method === "GET" ? "text/event-stream" : anyResponse);
  if (acceptEncoding !== undefined) headers.push("accept-encoding", acceptEncoding);
  if (method === "POST") headers.push("content-type", "application/json");
  const revision = session?.version || version;
  if (revision !== undefined) headers.push("mcp-protocol-version", revision);
  if (session !== undefined && session.id !== "") headers.push("mcp-session-id", session.id);
  if (lastEventId !== undefined) headers.push("last-event-id", lastEventId);
  return headers;
}

const anyResponse = "application/json, text/event-stream";
