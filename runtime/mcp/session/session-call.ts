import type { Exchange } from "../../http/exchange.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { UpstreamHandler, UpstreamRequest } from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { McpBackend } from "../transports/backend.ts";
import { type CallSender, HttpCall } from "../transports/http-call.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type { Call, CallSink, StreamableHttpTarget } from "../transports/target.ts";
import type { HttpSession } from "./session.ts";
import { openInSession, type SessionOwner, type SessionRequestOptions } from "./session-request.ts";

/** The context of a call in a session. */
export interface SessionCallContext {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly session: SessionOwner;
}

/** Sends one message to a streamable HTTP target, in a session of the target. */
export function callInSession(
  context: SessionCallContext,
  target: StreamableHttpTarget,
  session: HttpSession,
  message: Message,
  sink: CallSink,
): Call {
  noteTargetEra(context.exchange, "sessions");
  const call = new HttpCall(context.exchange, new SessionSender(context, target, session), sink);
  call.start(message);
  return call;
}

class SessionSender implements CallSender {
  readonly limit: number;
  readonly #context: SessionCallContext;
  readonly #target: StreamableHttpTarget;
  readonly #session: HttpSession;
  /** `renewals` of the session when the message was sent; it is renewed if the target has forgotten it. */
  #renewals = 0;

  constructor(context: SessionCallContext, target: StreamableHttpTarget, session: HttpSession) {
    this.limit = context.backend.limits.message;
    this.#context = context;
    this.#target = target;
    this.#session = session;
  }

  send(message: Message, handler: UpstreamHandler): UpstreamRequest {
    return this.#open({ method: "POST", message, body: message.text }, undefined, handler);
  }

  askForRest(lastEventId: string, handler: UpstreamHandler): UpstreamRequest {
    return this.#open({ method: "GET", message: undefined, body: null }, lastEventId, handler);
  }

  #open(
    asked: Pick<SessionRequestOptions, "method" | "message" | "body">,
    lastEventId: string | undefined,
    handler: UpstreamHandler,
  ): UpstreamRequest {
    const [target, session] = [this.#target, this.#session];
    this.#renewals = session.renewals;
    return openInSession(this.#context, { target, session, lastEventId, ...asked }, handler);
  }

  onHead(
    method: string,
    status: number,
    headers: readonly string[],
  ): TargetFailure["kind"] | undefined {
    const isOpening = method === "initialize";
    if (status >= 200 && status <= 299) {
      if (isOpening) this.#session.id = headerValue(headers, "mcp-session-id") ?? "";
      return undefined;
    }
    // A server without sessions reports that in its error, which has to be read.
    if (isOpening && status === 400) return undefined;
    // In a renewed session, or without one, the status is about something else.
    const { id, renewals } = this.#session;
    const isForgotten = id !== "" && renewals === this.#renewals && !isOpening;
    return status === 404 && isForgotten ? "session" : "status";
  }
}
