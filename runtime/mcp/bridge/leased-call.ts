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
import type { Call } from "../transports/target.ts";
import { waitingCalls } from "../transports/waiting-calls.ts";
import { type Lease, refusalOf } from "./lease.ts";
import type { LeasePool, Leg, ParkedCall } from "./lease-pool.ts";
import { inputResponsesOf, logLevelOf, sessionRequest } from "./stateless-request.ts";
import { statelessResponse } from "./stateless-results.ts";

/** Milliseconds for collecting the requests that a server sends at once. */
const GATHERING = 20;

/** Options of a call, apart from its first leg. */
export interface LeasedCallOptions {
  readonly pool: LeasePool<LeasedCall>;
  readonly lease: Lease;
  readonly backend: McpBackend;
  readonly gateway: GatewayContext;
  /** The key under which its session is stored afterwards; `undefined` if no other request may use it. */
  readonly key: string | undefined;
  /** The caller whose share of all waiting calls it uses. */
  readonly caller: string;
  /** The methods that the server may send to the client. */
  readonly askable: ReadonlySet<string>;
  /** The scope in which its state is valid: route, target, identity, and the request's digest. */
  readonly binding: string;
}

/** The part of a waiting call that is sealed into its state. */
export interface ParkedState {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The thread with the waiting call; absent if the process has one thread. */
  readonly thread?: number;
  /** The replica with the waiting call; absent if replicas share no store. */
  readonly replica?: string;
}

/**
 * A call to a target with sessions for a client without. If the server sends a request, the client's request ends with it
 * as an input request; the call waits and continues with the client's next request.
 */
export class LeasedCall implements ParkedCall {
  readonly #options: LeasedCallOptions;
  /** `undefined` while the call waits. */
  #leg: Leg | undefined;
  #call: Call | undefined;
  /** The server's unanswered requests, by their names for the client. */
  readonly #asked = new Map<string, Message>();
  #questions = 0;
  /** The response, if it arrived while the call waits: a server may end the call without waiting for its request. */
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

  /** Continues the call with the client's next request, which contains its responses. */
  continueWith(leg: Leg): void {
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

  /** Closes the session when the client of this leg has disconnected: nobody needs its results. */
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

  /** Sets the log level of this request; a server logs for the whole session. */
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
    // A server that refuses the level keeps its previous one.
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
        // Every leg has its own token; the server knows the one of the first leg.
        return leg.sink.onMessage(withProgressToken(message, progressTokenOf(leg.request)));
      default:
        // Changes of lists and resources are reported by subscriptions.
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
    // Requests that arrive while the call waits are sent when the client has returned.
    if (this.#leg !== undefined) this.#gatherTimer ??= setTimeout(() => this.#park(), GATHERING);
  }

  /** Ends the client's request with the server's requests as input requests. */
  #park(): void {
    this.#gatherTimer = undefined;
    const leg = this.#leg;
    if (leg === undefined || this.#isOver) return;
    const { pool, backend, binding, gateway } = this.#options;
    const id = randomUUID();
    const waiting = waitingCalls(gateway);
    if (!pool.park(id, this, backend.sessionLimits, waiting)) {
      this.#call?.cancel();
      this.#fail({ kind: "connect", detail: "too many calls wait for client input" });
      return;
    }
    this.#parkedAs = id;
    this.#leg = undefined;
    // Messages that the client of this leg did not read in time must not block the call.
    this.#call?.resume();
    const { input } = backend.timeouts;
    this.#parkTimer = setTimeout(() => this.expire(), input);
    const thread = gateway.threads && { thread: gateway.threads.index };
    const replica = waiting && { replica: waiting.replica };
    const parked: ParkedState = { id, expiresAt: Date.now() + input, ...thread, ...replica };
    const state = sealSession(gateway.sessionKeys, binding, JSON.stringify(parked));
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

  /** Stores the response until the client returns. */
  #keep(response: Message): void {
    this.#call = undefined;
    const bytes = Buffer.byteLength(response.text);
    if (this.#options.gateway.buffers.take(bytes)) this.#kept = { response, bytes };
    else this.expire();
  }

  #deliver(leg: Leg, response: Message): void {
    this.#end();
    const { pool, lease, key } = this.#options;
    // The call has ended, so the client cannot be asked any more.
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
    // The session belongs to the gateway; its loss must not make this client open another one.
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
