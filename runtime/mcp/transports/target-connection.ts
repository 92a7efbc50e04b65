import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, readMessage, textAt, withId } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { type PendingCall, PendingCalls } from "./pending-calls.ts";
import { type Call, type CallSink, endedCall, type ListenSink } from "./target.ts";
import type { Transport, TransportEvents, TransportFailure, TransportHost } from "./transport.ts";

/** Options of a connection to a target. */
export interface TargetConnectionOptions {
  /** The target's name, for the log. */
  readonly name: string;
  /** Maximum milliseconds that a request may take without any message from the target. */
  readonly callTimeout: number;
  readonly host: TransportHost;
  /** Starts the connection. */
  readonly open: (events: TransportEvents) => Transport;
  /** Called when the target has ended by itself. */
  readonly onGone: () => void;
}

/** A connection to a live target, in this process or at another replica. */
export type SessionConnection = Pick<
  TargetConnection,
  "call" | "close" | "isOpen" | "listen" | "send"
>;

/** A client's stream, and whether the connection is paused because of it. */
interface StreamConsumer {
  readonly sink: { onMessage(message: Message): boolean };
  isPaused: boolean;
}

interface Listener extends StreamConsumer {
  readonly sink: ListenSink;
}

/**
 * A session's connection to a live target. The target writes all messages to one connection; this class decides which of
 * the client's streams each message belongs to.
 */
export class TargetConnection {
  readonly #options: TargetConnectionOptions;
  readonly #transport: Transport;
  readonly #calls: PendingCalls;
  /**
   * The server's unanswered requests by id, and the stream that each went to. They have no deadline: a human may be
   * thinking.
   */
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

  /** Whether a client waits for a message of this target. */
  get isBusy(): boolean {
    return this.#calls.size > 0 || this.#listeners.length > 0;
  }

  /** Sends a request. */
  call(request: Message, sink: CallSink): Call {
    const call = this.#calls.add(request, sink);
    if (call === undefined) {
      sink.onFailure({ kind: "duplicate", detail: "a request with this id is in flight" });
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

  /** Delivers the server's messages outside of calls from now on; queued messages come first. */
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

  /** Closes the connection and fails everything that waits for it. */
  close(): void {
    this.#transport.close();
    this.#endAll({ kind: "closed", detail: "the session has ended" });
  }

  /** A cancelled request gets no response (MCP, cancellation), so nothing must wait for one. */
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
   * Delivers a message to the stream that it belongs to, as the connection does not tell. Subscription ids and progress
   * tokens decide first. Otherwise, if exactly one request is in flight, it gets the message; else the newest listener
   * does; else the newest request.
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

  /** Finds the subscription of a message; servers without sessions name it. */
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

  /** Handles a message while nobody listens: a ping is answered, other messages wait for the client's next stream. */
  #keep(message: Message): void {
    if (message.kind === "request" && message.method === "ping") {
      this.#transport.send(rpcResult(message.id, "{}"));
      return;
    }
    for (const dropped of this.#waiting.add(message)) {
      if (dropped.kind === "request") this.#refuseRequest(dropped.id);
    }
  }

  /** Refuses a request that nobody will answer, so that the server does not wait. */
  #refuseRequest(id: string): void {
    this.#transport.send(rpcError(id, rpcCode.internal, "the client does not listen"));
  }

  #deliver(consumer: StreamConsumer, message: Message): void {
    if (message.kind === "request") this.#asked.set(message.id, consumer);
    if (consumer.sink.onMessage(message) || consumer.isPaused) return;
    consumer.isPaused = true;
    if (this.#pausedConsumers++ === 0) this.#transport.pause();
  }

  /** Ends a stream that the client has left, and refuses the server's requests that went to it. */
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
   * Cancels a call whose client has disconnected. Over HTTP that does not mean a cancellation (MCP, transports), but this
   * gateway does not store responses, so the work would be wasted.
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

  /** Handles a message that the target refused: a request in it gets no response. */
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

/** Maximum number of queued messages, and of their characters in total. */
const MAX_MESSAGES = 256;
const MAX_CHARACTERS = 1_048_576;

/** Queue of a server's messages that arrive while the client has no open stream. */
class WaitingMessages {
  readonly #messages: Message[] = [];
  #characters = 0;

  /** Queues a message; returns the oldest ones if they had to be dropped. */
  add(message: Message): Message[] {
    this.#messages.push(message);
    this.#characters += message.text.length;
    const dropped: Message[] = [];
    while (this.#messages.length > MAX_MESSAGES || this.#characters > MAX_CHARACTERS) {
      const oldest = this.#messages.shift();
      if (oldest === undefined) break;
      this.#characters -= oldest.text.length;
      dropped.push(oldest);
    }
    return dropped;
  }

  /** Removes and returns all messages, oldest first. */
  takeAll(): Message[] {
    this.#characters = 0;
    return this.#messages.splice(0);
  }
}
