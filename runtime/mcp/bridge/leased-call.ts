import { randomUUID } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { sealSession } from "../../process/session-seal.ts";
import { type Message, ownMessage, textAt, withId } from "../protocol/message.ts";
import { progressTokenOf, withProgressToken } from "../protocol/progress-token.ts";
import { rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { McpBackend } from "../transports/backend.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import type { Call, CallSink } from "../transports/target.ts";
import { type Lease, refusalOf } from "./lease.ts";
import type { LeasePool, ParkedCall } from "./lease-pool.ts";
import { inputResponsesOf, logLevelOf, sessionRequest } from "./stateless-request.ts";
import { statelessResponse } from "./stateless-results.ts";

/** Milliseconds in which a server says all that it wants to know at once. */
const GATHERING = 20;

/** The request of a client without sessions that is served now. */
export interface Leg {
  readonly request: Message;
  readonly sink: CallSink;
}

/** What a call needs to know beside its first leg. */
export interface LeasedCallOptions {
  readonly pool: LeasePool<LeasedCall>;
  readonly lease: Lease;
  readonly backend: McpBackend;
  readonly gateway: GatewayContext;
  /** Whose session it is; undefined: nobody else's request may use it. */
  readonly key: string | undefined;
  /** Whose share of what waits it takes. */
  readonly caller: string;
  /** The methods by which its client can be asked. */
  readonly askable: ReadonlySet<string>;
  /** Where its state is valid: route, target, identity, and what was asked for. */
  readonly binding: string;
}

/** What is sealed into the state of a call that waits. */
export interface ParkedState {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Where it waits; absent: the process has one thread. */
  readonly thread?: number;
}

/**
 * A call to a target with sessions for a client that has none. What the server asks meanwhile ends the client's request
 * with the questions; the call waits, and goes on with the client's next request.
 */
export class LeasedCall implements ParkedCall {
  readonly #options: LeasedCallOptions;
  /** Undefined while it waits. */
  #leg: Leg | undefined;
  #call: Call | undefined;
  /** What the server asked, by the name that the client knows it under. */
  readonly #asked = new Map<string, Message>();
  #questions = 0;
  /** What came while it waits: a server may ask for its own purposes, and end the call without. */
  #kept: { readonly response: Message; readonly bytes: number } | undefined;
  #gatherTimer: NodeJS.Timeout | undefined;
  #parkTimer: NodeJS.Timeout | undefined;
  #parkedAs = "";
  #isOver = false;

  constructor(options: LeasedCallOptions) {
    this.#options = options;
  }

  get caller(): string {
    return this.#options.caller;
  }

  async start(leg: Leg, exchange: Exchange): Promise<void> {
    this.#leg = leg;
    const { lease } = this.#options;
    const onMessage = (message: Message) => this.#take(message);
    lease.onMessage = onMessage;
    await this.#setLogLevel(leg, exchange);
    if (this.#isOver) return;
    this.#call = lease.link.call(exchange, sessionRequest(leg.request), {
      onMessage,
      onResponse: (response) => this.#finish(response),
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** The client has come back with what it was asked. */
  goOn(leg: Leg): void {
    clearTimeout(this.#parkTimer);
    this.#leg = leg;
    const responses = inputResponsesOf(leg.request);
    for (const [name, question] of this.#asked) {
      const response = responses.get(name);
      if (response === undefined) continue;
      this.#asked.delete(name);
      this.#options.lease.link.send(ownMessage(rpcResult(question.id, response)));
    }
    if (this.#kept !== undefined) this.#deliver(leg, this.#kept.response);
    else if (this.#asked.size > 0) this.#park();
  }

  /** The client of this leg has left. What the server still does in the session is nobody's any more. */
  cancel(): void {
    if (this.#leg === undefined || this.#isOver) return;
    this.#end();
    this.#call?.cancel();
    this.#options.lease.link.close();
  }

  resume(): void {
    this.#call?.resume();
  }

  expire(): void {
    this.#options.pool.unpark(this.#parkedAs);
    this.#end();
    this.#call?.cancel();
    this.#options.lease.link.close();
  }

  /** A server logs for the whole session: it has to know what this request wants. */
  async #setLogLevel({ request }: Leg, exchange: Exchange): Promise<void> {
    const { lease, backend } = this.#options;
    const level = logLevelOf(request);
    if (level === undefined || level === lease.logLevel) return;
    if (lease.opened.capabilities?.logging === undefined) return;
    const message = ownMessage(
      `{"jsonrpc":"2.0","id":"${randomUUID()}","method":"logging/setLevel","params":{"level":${level}}}`,
    );
    const outcome = await outcomeOf(
      (sink) => lease.link.call(exchange, message, sink),
      backend.timeouts.fanOut,
    );
    // What it does not take it may log as it did.
    if (outcome.kind === "response" && outcome.response.result !== undefined)
      lease.logLevel = level;
  }

  #take(message: Message): boolean {
    if (message.kind === "request") {
      this.#ask(message);
      return true;
    }
    const leg = this.#leg;
    if (leg === undefined || this.#isOver || message.kind !== "notification") return true;
    switch (message.method) {
      case "notifications/message":
        return logLevelOf(leg.request) === undefined || leg.sink.onMessage(message);
      case "notifications/progress":
        // Every leg has a token of its own; the server knows that of the first.
        return leg.sink.onMessage(withProgressToken(message, progressTokenOf(leg.request)));
      default:
        // Of lists and resources a subscription says that they have changed.
        return true;
    }
  }

  #ask(question: Message): void {
    const { link } = this.#options.lease;
    if (question.method === "ping") {
      link.send(ownMessage(rpcResult(question.id, "{}")));
      return;
    }
    if (this.#isOver || !this.#options.askable.has(question.method)) {
      link.send(refusalOf(question));
      return;
    }
    this.#asked.set(`r${++this.#questions}`, question);
    // What comes while it waits is asked when the client has come back.
    if (this.#leg !== undefined) this.#gatherTimer ??= setTimeout(() => this.#park(), GATHERING);
  }

  /** Ends the client's request with the questions. */
  #park(): void {
    this.#gatherTimer = undefined;
    const leg = this.#leg;
    if (leg === undefined || this.#isOver) return;
    const { pool, backend, binding, gateway } = this.#options;
    const id = randomUUID();
    if (!pool.park(id, this, backend.sessionLimits)) {
      this.#call?.cancel();
      this.#fail({ kind: "connect", detail: "too many calls wait for their clients" });
      return;
    }
    this.#parkedAs = id;
    this.#leg = undefined;
    // Whatever the client of this leg did not read in time is not waited for.
    this.#call?.resume();
    const { input } = backend.timeouts;
    this.#parkTimer = setTimeout(() => this.expire(), input);
    const thread = gateway.threads && { thread: gateway.threads.index };
    const parked: ParkedState = { id, expiresAt: Date.now() + input, ...thread };
    const state = sealSession(gateway.sessionKey, binding, JSON.stringify(parked));
    const result = `{"resultType":"input_required","inputRequests":{${this.#questionTexts().join(",")}},"requestState":"${state}"}`;
    leg.sink.onResponse(ownMessage(rpcResult(leg.request.id, result)));
  }

  #questionTexts(): readonly string[] {
    return Array.from(this.#asked, ([name, { text, method, params }]) => {
      const rest = params === undefined ? "" : `,"params":${textAt(text, params)}`;
      return `"${name}":{"method":${JSON.stringify(method)}${rest}}`;
    });
  }

  #finish(response: Message): void {
    if (this.#isOver) return;
    if (this.#leg !== undefined) this.#deliver(this.#leg, response);
    else this.#keep(response);
  }

  /** The client gets it when it comes back. */
  #keep(response: Message): void {
    this.#call = undefined;
    const bytes = Buffer.byteLength(response.text);
    if (this.#options.gateway.buffers.take(bytes)) this.#kept = { response, bytes };
    else this.expire();
  }

  #deliver(leg: Leg, response: Message): void {
    this.#end();
    const { pool, lease, key } = this.#options;
    // Whose call is over is asked nothing more.
    for (const question of this.#asked.values()) lease.link.send(refusalOf(question));
    pool.unpark(this.#parkedAs);
    pool.giveBack(key, lease);
    const own = withId(response, leg.request.id);
    leg.sink.onResponse(statelessResponse(leg.request, own, lease.opened));
  }

  #fail(failure: TargetFailure): void {
    if (this.#isOver) return;
    this.#end();
    this.#options.pool.unpark(this.#parkedAs);
    this.#options.lease.link.close();
    // A session is the gateway's business: to this client it is no reason for another one.
    const kind = failure.kind === "session" ? "protocol" : failure.kind;
    this.#leg?.sink.onFailure({ ...failure, kind });
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#gatherTimer);
    clearTimeout(this.#parkTimer);
    if (this.#kept !== undefined) this.#options.gateway.buffers.give(this.#kept.bytes);
    this.#kept = undefined;
  }
}
