import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, readMessage, textAt, withId } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { type PendingCall, PendingCalls } from "./pending-calls.ts";
import { type Call, type CallSink, endedCall, type ListenSink } from "./target.ts";
import type { Transport, TransportEvents, TransportFailure, TransportHost } from "./transport.ts";
import { WaitingMessages } from "./waiting-messages.ts";

/** What a connection to a target is made of. */
export interface TargetConnectionOptions {
  /** The target's name, for the log. */
  readonly name: string;
  /** Milliseconds that a request may go without any sign of life. */
  readonly callTimeout: number;
  readonly host: TransportHost;
  /** Starts the connection. */
  readonly open: (events: TransportEvents) => Transport;
  /** The target has ended by itself. */
  readonly onGone: () => void;
}

/** A client's stream, and whether the connection waits for it. */
interface StreamConsumer {
  readonly sink: { onMessage(message: Message): boolean };
  isPaused: boolean;
}

interface Listener extends StreamConsumer {
  readonly sink: ListenSink;
}

/**
 * A session's side of a live target. The target writes everything to one connection; here is decided which of the
 * client's streams a message belongs to.
 */
export class TargetConnection {
  readonly #options: TargetConnectionOptions;
  readonly #transport: Transport;
  readonly #calls: PendingCalls;
  /** The server's requests that the client has not answered, by id, and where they went: a human may be thinking. */
  readonly #asked = new Map<string, StreamConsumer>();
  readonly #listeners: Listener[] = [];
  readonly #waiting = new WaitingMessages();
  #pausedConsumers = 0;

  constructor(options: TargetConnectionOptions) {
    this.#options = options;
    this.#calls = new PendingCalls(options.callTimeout, (call) => this.#expire(call));
    this.#transport = options.open({
      onMessage: (text) => this.#receive(text),
      onRefused: (text, detail) => this.#refuse(text, detail),
      onClose: (failure) => this.#lose(failure),
    });
  }

  get isOpen(): boolean {
    return this.#transport.isOpen;
  }

  /** True while a client waits for something of this target. */
  get isBusy(): boolean {
    return this.#calls.size > 0 || this.#listeners.length > 0;
  }

  /** Sends a request. */
  call(request: Message, sink: CallSink): Call {
    const call = this.#calls.add(request, sink);
    if (call === undefined) {
      sink.onFailure({ kind: "duplicate", detail: "a request with this id is under way" });
      return endedCall;
    }
    if (this.#transport.isOpen) this.#transport.send(request.text);
    else this.#fail(call, { kind: "session", detail: "it has ended" });
    return { cancel: () => this.#cancel(call), resume: () => this.#release(call) };
  }

  /** Sends a notification, or the client's response to a request of the server's. */
  send(message: Message): void {
    this.#transport.send(message.text);
    if (message.kind === "response") this.#asked.delete(message.id);
    else if (message.method === "notifications/cancelled") this.#forget(message);
  }

  /** From now on hands over what the server says outside of any call; what has waited comes first. */
  listen(sink: ListenSink): Call {
    const listener: Listener = { sink, isPaused: false };
    this.#listeners.push(listener);
    for (const message of this.#waiting.takeAll()) this.#deliver(listener, message);
    return {
      cancel: () => {
        const at = this.#listeners.indexOf(listener);
        if (at !== -1) this.#listeners.splice(at, 1);
        this.#leave(listener);
      },
      resume: () => this.#release(listener),
    };
  }

  /** Ends the connection and everything that waits for it. */
  close(): void {
    this.#transport.close();
    this.#endAll({ kind: "closed", detail: "the session has ended" });
  }

  /** A request that the client takes back gets no response (MCP, cancellation): nothing waits for one. */
  #forget(cancellation: Message): void {
    const id = this.#param(cancellation, "requestId");
    const call = id === undefined ? undefined : this.#calls.find(id);
    if (call !== undefined) this.#fail(call, { kind: "cancelled", detail: "cancelled" });
  }

  #receive(text: string): void {
    const message = readMessage(text);
    if (message.kind === "problem") {
      this.#options.host.log(this.#options.name, `not a message: ${text}`);
      return;
    }
    if (message.kind === "response") this.#settle(message);
    else this.#route(message);
  }

  #settle(response: Message): void {
    const call = this.#calls.find(response.id);
    if (call === undefined || !this.#calls.remove(call)) return;
    this.#release(call);
    call.sink.onResponse(withId(response, call.request.id));
  }

  /**
   * The connection does not say which request a message is about. A subscription is named, progress names its token; else, with one request under
   * way, that is the one; else a client that listens gets it; else the youngest request does.
   */
  #route(message: Message): void {
    const candidates = this.#calls.candidates();
    const only = candidates.length === 1 ? candidates[0] : undefined;
    const consumer =
      this.#subscriptionOf(message) ??
      this.#progressOf(message) ??
      only ??
      this.#listeners.at(-1) ??
      candidates.at(-1);
    if (consumer === undefined) {
      this.#keep(message);
      return;
    }
    if ("request" in consumer) this.#calls.restart(consumer);
    this.#deliver(consumer, message);
  }

  /** A server without sessions says which subscription a message is for. */
  #subscriptionOf(message: Message): PendingCall | undefined {
    if (!message.text.includes(metaKey.subscriptionId)) return undefined;
    const fields = metaFields(message);
    const id = typeof fields === "string" ? undefined : fields.get(metaKey.subscriptionId);
    return id && this.#calls.find(textAt(message.text, id));
  }

  #progressOf(message: Message): PendingCall | undefined {
    if (message.method !== "notifications/progress") return undefined;
    const token = this.#param(message, "progressToken");
    return token === undefined ? undefined : this.#calls.findByProgressToken(token);
  }

  #param(message: Message, name: string): string | undefined {
    const at = paramOf(message, name);
    return at && textAt(message.text, at);
  }

  /** Nobody listens: a ping is answered here, the rest waits for a client's next stream. */
  #keep(message: Message): void {
    if (message.kind === "request" && message.method === "ping") {
      this.#transport.send(rpcResult(message.id, "{}"));
      return;
    }
    for (const dropped of this.#waiting.add(message)) {
      if (dropped.kind === "request") this.#refuseRequest(dropped.id);
    }
  }

  /** Nobody will answer the server: it need not wait. */
  #refuseRequest(id: string): void {
    this.#transport.send(rpcError(id, rpcCode.internal, "the client does not listen"));
  }

  #deliver(consumer: StreamConsumer, message: Message): void {
    if (message.kind === "request") this.#asked.set(message.id, consumer);
    if (consumer.sink.onMessage(message) || consumer.isPaused) return;
    consumer.isPaused = true;
    if (this.#pausedConsumers++ === 0) this.#transport.pause();
  }

  /** The client has left a stream: what it was asked there is not answered. */
  #leave(consumer: StreamConsumer): void {
    this.#release(consumer);
    for (const [id, asked] of this.#asked) {
      if (asked !== consumer) continue;
      this.#asked.delete(id);
      this.#refuseRequest(id);
    }
  }

  #release(consumer: StreamConsumer): void {
    if (!consumer.isPaused) return;
    consumer.isPaused = false;
    if (--this.#pausedConsumers === 0) this.#transport.resume();
  }

  /**
   * The client left. Over HTTP that is no cancellation (MCP, transports), but this gateway keeps no responses for later: the
   * work would be for nobody.
   */
  #cancel(call: PendingCall): void {
    if (!this.#calls.remove(call)) return;
    this.#leave(call);
    this.#notifyCancelled(call, "the client left");
  }

  #expire(call: PendingCall): void {
    const isAsking = this.#asked
      .values()
      .some((consumer) => consumer === call || !("request" in consumer));
    if (isAsking || call.request.method === "subscriptions/listen") {
      this.#calls.restart(call);
      return;
    }
    this.#notifyCancelled(call, "the request timed out");
    this.#fail(call, { kind: "timeout", detail: "no sign of life in time" });
  }

  #notifyCancelled(call: PendingCall, reason: string): void {
    if (call.request.method === "initialize") return;
    this.#transport.send(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${call.request.id},"reason":"${reason}"}}`,
    );
  }

  /** The target did not take a message: the request in it gets no response. */
  #refuse(text: string, detail: string): void {
    this.#options.host.log(this.#options.name, detail);
    const message = readMessage(text);
    const call = message.kind === "request" ? this.#calls.find(message.id) : undefined;
    if (call !== undefined) this.#fail(call, { kind: "status", detail });
  }

  #lose(failure: TransportFailure): void {
    this.#options.host.log(this.#options.name, failure.detail);
    this.#endAll(failure);
    this.#options.onGone();
  }

  #endAll(failure: TargetFailure): void {
    for (const call of this.#calls.all()) this.#fail(call, failure);
    for (const listener of this.#listeners.splice(0)) listener.sink.onEnd();
  }

  #fail(call: PendingCall, failure: TargetFailure): void {
    if (!this.#calls.remove(call)) return;
    this.#release(call);
    call.sink.onFailure(failure);
  }
}
