import { sseMessage } from "../../http/body/sse.ts";
import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { Message } from "../protocol/message.ts";
import { STREAM_HEADERS } from "../session/client-stream.ts";
import { HttpListener } from "../session/http-listener.ts";
import { listsChanged } from "../session/lists-changed.ts";
import {
  type ActiveTarget,
  activeTargets,
  bridgedContext,
  type SessionContext,
} from "../session/session-context.ts";
import { type Call, endedCall } from "../transports/target.ts";
import { messageForClient } from "./forward-call.ts";

/**
 * Serves a client's GET stream with the messages that its targets send outside of requests. The response starts with the
 * first target that offers such a stream; it is 405 if none does.
 */
export function serveStream(context: SessionContext): void {
  const stream = new SessionStream(context);
  stream.start(activeTargets(context));
}

class SessionStream {
  readonly #context: SessionContext;
  readonly #exchange: Exchange;
  readonly #timer: NodeJS.Timeout;
  readonly #stopWaiting: () => void;
  readonly #forgetReloads: () => void;
  #sources: Call[] = [];
  #candidates = 0;
  readonly #end = () => {
    clearInterval(this.#timer);
    this.#stopWaiting();
    this.#forgetReloads();
    this.#context.session.streams.delete(this.#end);
    for (const source of this.#sources.splice(0)) source.cancel();
    this.#exchange.end();
  };

  constructor(context: SessionContext) {
    const { exchange, backend } = context;
    this.#context = context;
    this.#exchange = exchange;
    this.#timer = setInterval(() => this.#keepAlive(), backend.timeouts.keepAlive);
    this.#stopWaiting = exchange.gateway.onDrainDeadline(this.#end);
    this.#forgetReloads = exchange.gateway.onReload(() => {
      if (exchange.headersSent) exchange.write(listsChanged);
    });
    context.session.streams.add(this.#end);
  }

  start(targets: readonly ActiveTarget[]): void {
    this.#candidates = targets.length;
    this.#exchange.onDrain(() => {
      for (const source of this.#sources) source.resume();
    });
    this.#exchange.onAbort(this.#end);
    // A child can always be listened to; an HTTP target may have no such stream.
    if (targets.some(({ session }) => session.kind !== "http")) this.#open();
    for (const target of targets) this.#sources.push(this.#listen(target));
  }

  #listen(active: ActiveTarget): Call {
    const { session, target } = active;
    const sink = {
      onMessage: (message: Message) => this.#send(active, message),
      onEnd: () => this.#end(),
    };
    if (session.kind === "live") return session.connection.listen(sink);
    if (session.kind === "stateless") {
      const bridged = bridgedContext(this.#context, { target, session });
      return bridged?.bridge.listen(bridged, sink) ?? endedCall;
    }
    // Targets without a session have no such stream.
    if (session.kind === "direct") return endedCall;
    const listener = new HttpListener(this.#context, target, session, {
      onMessage: sink.onMessage,
      onOpen: () => this.#open(),
      onRefused: () => this.#lose(),
    });
    listener.start();
    return listener;
  }

  #open(): void {
    if (!this.#exchange.headersSent) this.#exchange.writeHead(200, STREAM_HEADERS);
  }

  #send(active: ActiveTarget, message: Message): boolean {
    this.#timer.refresh();
    const shown = messageForClient(this.#context, active, message);
    return shown === undefined || this.#exchange.write(sseMessage(shown.text));
  }

  #keepAlive(): void {
    if (this.#exchange.headersSent) this.#exchange.write(": keep-alive\n\n");
  }

  #lose(): void {
    if (--this.#candidates > 0) return;
    if (this.#exchange.headersSent) {
      this.#end();
      return;
    }
    this.#end();
    refuse(this.#exchange, 405, "MCP", "No server offers a stream", ["allow", "POST, DELETE"]);
  }
}
