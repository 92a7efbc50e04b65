import { sseMessage } from "../../http/body/sse.ts";
import { metaKey, withParams } from "../protocol/envelope.ts";
import type { Message } from "../protocol/message.ts";
import { rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { isAllowed } from "../rules/authorization.ts";
import { STREAM_HEADERS } from "../session/client-stream.ts";
import { failureText } from "../session/failure-response.ts";
import {
  type ActiveTarget,
  activeTargets,
  callTarget,
  type SessionContext,
} from "../session/session-context.ts";
import {
  acknowledged,
  acknowledgement,
  filterText,
  readFilter,
  refuseFilter,
  type SubscriptionFilter,
} from "../stateless/subscription-filter.ts";
import type { Call } from "../transports/target.ts";
import { failedTarget } from "./failed-target.ts";
import { messageForClient } from "./forward-call.ts";
import { clientName, resolvePrimitive } from "./names.ts";

/** Serves a client's subscription by subscribing to each target: one acknowledgement, one stream, one end. */
export function serveSubscription(context: SessionContext, request: Message): void {
  const asked = readFilter(request);
  if (asked === undefined) {
    refuseFilter(context.exchange, request);
    return;
  }
  new Subscription(context, request, asked).start();
}

class Subscription {
  readonly #context: SessionContext;
  readonly #request: Message;
  readonly #asked: SubscriptionFilter;
  readonly #timer: NodeJS.Timeout;
  readonly #stopWaiting: () => void;
  #calls: Call[] = [];
  /** The targets that have neither acknowledged nor failed. */
  readonly #waiting = new Set<number>();
  /** The targets that have failed. */
  readonly #lost = new Set<number>();
  readonly #lists = new Set<string>();
  readonly #uris = new Set<string>();
  #isAcknowledged = false;
  #isComplete = false;
  #isOver = false;
  /** Messages from before the acknowledgement. */
  #early: Message[] = [];

  constructor(context: SessionContext, request: Message, asked: SubscriptionFilter) {
    this.#context = context;
    this.#request = request;
    this.#asked = asked;
    const { exchange, backend } = context;
    this.#timer = setInterval(() => exchange.write(": keep-alive\n\n"), backend.timeouts.keepAlive);
    this.#stopWaiting = exchange.gateway.onDrainDeadline(() => this.#end());
  }

  start(): void {
    const { exchange, backend } = this.#context;
    exchange.writeHead(200, STREAM_HEADERS);
    exchange.onAbort(() => this.#close());
    exchange.onDrain(() => {
      for (const call of this.#calls) call.resume();
    });
    const targets = activeTargets(this.#context);
    for (const { index } of targets) this.#waiting.add(index);
    this.#calls = targets.map((active) => this.#listen(active));
    const timer = setTimeout(() => this.#acknowledge(), backend.timeouts.fanOut);
    exchange.onClose(() => clearTimeout(timer));
  }

  #listen(active: ActiveTarget): Call {
    return callTarget(this.#context, active, this.#requestFor(active), {
      onMessage: (message) => this.#take(active, message),
      onResponse: ({ result }) => {
        if (result === undefined) this.#lose(active, refused);
        else this.#complete(active);
      },
      onFailure: (failure) => this.#lose(active, failure),
    });
  }

  #requestFor(active: ActiveTarget): Message {
    const { exchange, backend, access } = this.#context;
    const uris = this.#asked.uris.flatMap((name) => {
      const caller = { exchange, jwt: access.jwt };
      const found = resolvePrimitive(backend, { kind: "resource", name }, caller);
      if (found === undefined || found.index !== active.index) return [];
      const item = { name: found.name, target: found.target.name };
      const isShown = isAllowed(access, exchange, this.#request.method, "resource", item);
      return isShown ? [found.name] : [];
    });
    const filter = filterText({ lists: this.#asked.lists, uris });
    return withParams(this.#request, {}, { notifications: filter });
  }

  #take(active: ActiveTarget, message: Message): boolean {
    if (message.kind !== "notification" || this.#isOver) return true;
    if (message.method === acknowledged) {
      const { lists, uris } = readFilter(message) ?? { lists: [], uris: [] };
      for (const list of lists) this.#lists.add(list);
      for (const uri of uris) {
        this.#uris.add(clientName(this.#context.backend, active.target, "resource", uri));
      }
      this.#settle(active);
      return true;
    }
    const shown = messageForClient(this.#context, active, message);
    if (shown === undefined) return true;
    const own = withParams(shown, { [metaKey.subscriptionId]: this.#request.id });
    if (!this.#isAcknowledged) {
      this.#early.push(own);
      return true;
    }
    this.#timer.refresh();
    return this.#context.exchange.write(sseMessage(own.text));
  }

  #settle({ index }: ActiveTarget): void {
    this.#waiting.delete(index);
    if (this.#waiting.size === 0) this.#acknowledge();
  }

  #acknowledge(): void {
    if (this.#isAcknowledged || this.#isOver) return;
    this.#isAcknowledged = true;
    const { exchange } = this.#context;
    const filter = { lists: [...this.#lists], uris: [...this.#uris] };
    exchange.write(sseMessage(acknowledgement(this.#request.id, filter).text));
    for (const { text } of this.#early.splice(0)) exchange.write(sseMessage(text));
    if (this.#isComplete) this.#end();
  }

  /**
   * Handles the end of a target's stream: the client's stream ends once all targets have acknowledged, so that it can
   * listen again.
   */
  #complete(active: ActiveTarget): void {
    this.#isComplete = true;
    if (this.#isAcknowledged) this.#end();
    else this.#settle(active);
  }

  #lose(active: ActiveTarget, failure: TargetFailure): void {
    const { backend } = this.#context;
    const named = failedTarget(this.#context, active.target, failure);
    this.#lost.add(active.index);
    const isHeard = this.#lost.size < backend.targets.length;
    // Once acknowledged, the client listens again and learns which targets are left.
    if (this.#isAcknowledged) this.#end();
    else if (backend.failureMode === "failOpen" && isHeard) this.#settle(active);
    else this.#refuse(named);
  }

  #refuse(failure: TargetFailure): void {
    this.#finish(failureText(this.#request.id, failure));
  }

  #end(): void {
    const meta = `{${JSON.stringify(metaKey.subscriptionId)}:${this.#request.id}}`;
    this.#finish(rpcResult(this.#request.id, `{"resultType":"complete","_meta":${meta}}`));
  }

  #finish(text: string): void {
    if (this.#isOver) return;
    this.#close();
    this.#context.exchange.write(sseMessage(text));
    this.#context.exchange.end();
  }

  #close(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#stopWaiting();
    for (const call of this.#calls.splice(0)) call.cancel();
  }
}

const refused: TargetFailure = { kind: "protocol", detail: "refused a subscription" };
