import { createHash, randomUUID } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { isObjectAt, objectMembers, stringAt } from "../../json/json-text.ts";
import { MINUTE } from "../../process/units.ts";
import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, readFields, textAt, withId } from "../protocol/message.ts";
import { edited, paramOf, replaced } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import { sealSession } from "../session/session-seal.ts";
import type { Call, CallSink, TargetFailure } from "../transports/target.ts";
import type { Lease } from "./lease.ts";
import type { LeasePool } from "./lease-pool.ts";
import { ownMessage, statelessResponse } from "./stateless-results.ts";

/** How long a call waits for its client to come back; many servers give up before that. */
const parkTimeout = 10 * MINUTE;
/** Milliseconds in which a server says all that it wants to know at once. */
const gathering = 20;

/** The request of a client without sessions that is served now. */
export interface Leg {
  readonly exchange: Exchange;
  readonly request: Message;
  readonly sink: CallSink;
}

/** What a call needs to know beside its first leg. */
export interface LeasedCallOptions {
  readonly pool: LeasePool;
  readonly lease: Lease;
  /** Whose session it is; undefined: nobody else's request may use it. */
  readonly key: string | undefined;
  /** Where its state is valid: route, target, identity, and what was asked for. */
  readonly binding: string;
  /** The most calls that wait in this process. */
  readonly mostParked: number;
}

/**
 * A call to a target with sessions for a client that has none. What the server asks meanwhile ends the client's request
 * with the questions; the call waits, and goes on with the client's next request.
 */
export class LeasedCall {
  readonly #options: LeasedCallOptions;
  #leg: Leg | undefined;
  #call: Call | undefined;
  /** What the server asked, by the name that the client knows it under. */
  readonly #asked = new Map<string, Message>();
  #questions = 0;
  #gatherTimer: NodeJS.Timeout | undefined;
  #parkTimer: NodeJS.Timeout | undefined;
  #parkedAs = "";
  #isOver = false;

  constructor(options: LeasedCallOptions) {
    this.#options = options;
  }

  start(leg: Leg): void {
    this.#leg = leg;
    const { lease } = this.#options;
    this.#call = lease.link.call(leg.exchange, withoutStateless(leg.request), {
      onMessage: (message) => this.#take(message),
      onResponse: (response) => this.#finish(response),
      onFailure: (failure) => this.#fail(failure),
    });
  }

  /** The client has come back with what it was asked. */
  resume(leg: Leg): void {
    clearTimeout(this.#parkTimer);
    this.#leg = leg;
    const responses = responsesOf(leg.request);
    const missing = [...this.#asked.keys()].filter((key) => responses.get(key) === undefined);
    if (missing.length > 0) {
      this.#park();
      return;
    }
    for (const [key, question] of this.#asked) {
      const result = responses.get(key) ?? "{}";
      this.#options.lease.link.send(leg.exchange, ownMessage(rpcResult(question.id, result)));
    }
    this.#asked.clear();
  }

  /** The client has left. */
  cancel(): void {
    if (this.#leg === undefined || this.#isOver) return;
    this.#end();
    this.#call?.cancel();
    // What the server still does in it is nobody's any more.
    this.#options.lease.link.close();
  }

  resumeReading(): void {
    this.#call?.resume();
  }

  /** Nobody has come back. */
  expire(): void {
    this.#leg = undefined;
    this.#options.pool.unpark(this.#parkedAs);
    this.#end();
    this.#call?.cancel();
    this.#options.lease.link.close();
  }

  #take(message: Message): boolean {
    const leg = this.#leg;
    if (message.kind === "request") {
      this.#ask(message);
      return true;
    }
    if (leg === undefined || message.kind !== "notification") return true;
    switch (message.method) {
      case "notifications/message":
        return !wantsLog(leg.request) || leg.sink.onMessage(message);
      case "notifications/progress":
        return leg.sink.onMessage(withToken(message, leg.request));
      default:
        // Of lists and resources a subscription says that they have changed.
        return true;
    }
  }

  #ask(question: Message): void {
    const { lease } = this.#options;
    const exchange = this.#leg?.exchange;
    if (exchange === undefined) return;
    if (question.method === "ping") {
      lease.link.send(exchange, ownMessage(rpcResult(question.id, "{}")));
      return;
    }
    if (!askable.has(question.method) || !asking.has(this.#leg?.request.method ?? "")) {
      const refusal = rpcError(
        question.id,
        rpcCode.methodNotFound,
        "The client can't be asked that",
      );
      lease.link.send(exchange, ownMessage(refusal));
      return;
    }
    this.#asked.set(`r${++this.#questions}`, question);
    this.#gatherTimer ??= setTimeout(() => this.#park(), gathering);
  }

  /** Ends the client's request with the questions. */
  #park(): void {
    this.#gatherTimer = undefined;
    const leg = this.#leg;
    if (leg === undefined || this.#isOver) return;
    const { pool, binding, mostParked } = this.#options;
    if (pool.parkedCount >= mostParked) {
      this.#fail({ kind: "connect", detail: "too many calls wait for their clients" });
      this.#call?.cancel();
      return;
    }
    this.#parkedAs = randomUUID();
    pool.park(this.#parkedAs, this);
    this.#parkTimer = setTimeout(() => this.expire(), parkTimeout);
    const expiresAt = Date.now() + parkTimeout;
    const state = sealSession(
      leg.exchange.gateway.sessionKey,
      binding,
      JSON.stringify({ id: this.#parkedAs, e: expiresAt }),
    );
    const questions = [...this.#asked].map(([key, { text, method, params }]) => {
      const rest = params === undefined ? "" : `,"params":${textAt(text, params)}`;
      return `"${key}":{"method":${JSON.stringify(method)}${rest}}`;
    });
    const result = `{"resultType":"input_required","inputRequests":{${questions.join(",")}},"requestState":"${state}"}`;
    this.#leg = undefined;
    leg.sink.onResponse(ownMessage(rpcResult(leg.request.id, result)));
  }

  #finish(response: Message): void {
    const leg = this.#leg;
    if (this.#isOver) return;
    this.#end();
    const { pool, lease, key } = this.#options;
    pool.unpark(this.#parkedAs);
    pool.giveBack(key, lease);
    if (leg === undefined) return;
    const shown = statelessResponse(leg.request, response);
    leg.sink.onResponse(withId(shown, leg.request.id));
  }

  #fail(failure: TargetFailure): void {
    const leg = this.#leg;
    if (this.#isOver) return;
    this.#end();
    this.#options.pool.unpark(this.#parkedAs);
    this.#options.lease.link.close();
    // A session is the gateway's business: to this client it is no reason for another one.
    const kind = failure.kind === "session" ? "protocol" : failure.kind;
    leg?.sink.onFailure({ ...failure, kind });
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#gatherTimer);
    clearTimeout(this.#parkTimer);
  }
}

/** What an input request may be, and the requests that may be ended with one (MCP 2026-07-28). */
const askable: ReadonlySet<string> = new Set([
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
]);
const asking: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** What a state is good for beside its caller: the same request, whatever it adds of responses. */
export function digestOf(request: Message): string {
  const parts = ["name", "uri", "arguments"].map((name) => {
    const at = paramOf(request, name);
    return at === undefined ? "" : textAt(request.text, at);
  });
  return createHash("sha256")
    .update(JSON.stringify([request.method, ...parts]))
    .digest("base64url");
}

/** The request as revisions with sessions have it. */
function withoutStateless(request: Message): Message {
  const { text, params } = request;
  if (params === undefined) return request;
  const kept = objectMembers(text, params.start).flatMap(({ key, keyStart, start, end }) => {
    if (key === "inputResponses" || key === "requestState") return [];
    if (key !== "_meta" || !isObjectAt(text, start)) return [text.slice(keyStart, end)];
    const meta = objectMembers(text, start)
      .filter((each) => !each.key.startsWith("io.modelcontextprotocol/"))
      .map((each) => text.slice(each.keyStart, each.end));
    return meta.length === 0 ? [] : [`"_meta":{${meta.join(",")}}`];
  });
  return edited(request, [replaced(params, `{${kept.join(",")}}`)]);
}

/** The client's responses by their names, as JSON text: those that are objects. */
function responsesOf(request: Message): ReadonlyMap<string, string> {
  const { text } = request;
  const at = paramOf(request, "inputResponses");
  if (at === undefined || !isObjectAt(text, at.start)) return new Map();
  const fields = readFields(text, at.start, new Set());
  if (typeof fields === "string") return new Map();
  const objects = [...fields.values()].filter(({ start }) => isObjectAt(text, start));
  return new Map(objects.map((each) => [each.key, textAt(text, each)]));
}

function wantsLog(request: Message): boolean {
  const fields = metaFields(request);
  return typeof fields !== "string" && fields.has(metaKey.logLevel);
}

/** Every leg has a progress token of its own; the server knows that of the first. */
function withToken(message: Message, request: Message): Message {
  const fields = metaFields(request);
  const token = typeof fields === "string" ? undefined : fields.get("progressToken");
  const at = paramOf(message, "progressToken");
  if (token === undefined || at === undefined) return message;
  return edited(message, [replaced(at, textAt(request.text, token))]);
}

/** The state that a request brings back. */
export function stateOf(request: Message): string | undefined {
  return stringAt(request.text, paramOf(request, "requestState"));
}
