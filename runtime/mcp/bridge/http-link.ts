import type { Exchange } from "../../http/exchange.ts";
import { SECOND } from "../../process/units.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { HttpListener } from "../session/http-listener.ts";
import { newHttpSession } from "../session/session.ts";
import { callInSession } from "../session/session-call.ts";
import type { SessionOwner } from "../session/session-request.ts";
import { endTargetSession } from "../session/target-end.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { Call, CallSink, ListenSink, StreamableHttpTarget } from "../transports/target.ts";
import type { LeasedLink } from "./leased-link.ts";

/** Maximum wait for the head of a stream: some servers send nothing before the first message. */
const MAX_SILENCE = 1 * SECOND;

/** A session with a server over streamable HTTP. */
export class HttpLink implements LeasedLink {
  readonly isOpen = true;
  readonly #backend: McpBackend;
  readonly #target: StreamableHttpTarget;
  /** The params for renewing the session after the target has forgotten it. */
  readonly #owner: SessionOwner;
  #session = newHttpSession();
  /** The last request; messages outside of requests use its credentials. */
  #exchange: Exchange;
  #listener: HttpListener | undefined;

  /** `initialize`: the params that the session is opened with, as JSON text. */
  constructor(
    exchange: Exchange,
    backend: McpBackend,
    target: StreamableHttpTarget,
    initialize: string,
  ) {
    this.#exchange = exchange;
    this.#backend = backend;
    this.#target = target;
    this.#owner = { initialize, isEnded: false };
  }

  /** Sets the negotiated revision. */
  agree(version: string): void {
    this.#session = { ...this.#session, version };
  }

  call(exchange: Exchange, request: Message, sink: CallSink): Call {
    this.#exchange = exchange;
    const call = this.#post(request, sink);
    const { id, method } = request;
    return {
      resume: () => call.resume(),
      cancel: () => {
        call.cancel();
        if (method !== "initialize") this.send(cancellationOf(id));
      },
    };
  }

  send(message: Message): void {
    this.#post(message, unheard);
  }

  listen(sink: ListenSink): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, MAX_SILENCE);
      const onHead = () => {
        clearTimeout(timer);
        resolve();
      };
      const context = this.#context();
      this.#listener = new HttpListener(context, this.#target, this.#session, {
        onMessage: (message) => sink.onMessage(message),
        onOpen: onHead,
        onRefused: onHead,
      });
      this.#listener.start();
    });
  }

  close(): void {
    this.#owner.isEnded = true;
    this.#listener?.cancel();
    endTargetSession(this.#exchange, this.#target, this.#session);
  }

  #post(message: Message, sink: CallSink): Call {
    return callInSession(this.#context(), this.#target, this.#session, message, sink);
  }

  #context() {
    return { exchange: this.#exchange, backend: this.#backend, session: this.#owner };
  }
}

function cancellationOf(id: string): Message {
  return ownMessage(
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`,
  );
}

/** Ignores the outcome of messages that have no response. */
const unheard: CallSink = { onMessage: () => true, onResponse: () => {}, onFailure: () => {} };
