import { SECOND } from "../../process/units.ts";
import { metaFields, metaKey } from "../protocol/envelope.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { edited, paramOf } from "../protocol/message-edit.ts";
import { acknowledged } from "../stateless/subscription-filter.ts";
import type { BridgedContext } from "../transports/session-bridge.ts";
import type { Call, ListenSink } from "../transports/target.ts";
import { sendLeg } from "./send-leg.ts";

/** Milliseconds before a subscription that the target has ended is reopened. */
const RETRY = 1 * SECOND;

/**
 * Delivers the messages that a target without sessions sends on its own: one subscription to everything that the client's
 * session has subscribed to.
 */
export class BridgedListener implements Call {
  readonly #context: BridgedContext;
  readonly #sink: ListenSink;
  #call: Call | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #widen = () => this.#open();

  constructor(context: BridgedContext, sink: ListenSink) {
    this.#context = context;
    this.#sink = sink;
  }

  start(): void {
    this.#context.session.listeners.add(this.#widen);
    this.#open();
  }

  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#context.session.listeners.delete(this.#widen);
    this.#call?.cancel();
  }

  resume(): void {
    this.#call?.resume();
  }

  /** Opens the subscription. The wider one starts before the narrower one ends, so that no message is missed. */
  #open(): void {
    clearTimeout(this.#timer);
    const before = this.#call;
    const own: { call?: Call } = {};
    const isCurrent = () => !this.#isOver && this.#call === own.call;
    own.call = sendLeg(this.#context, this.#request(), {
      onMessage: (message) => this.#isOver || this.#pass(message),
      onResponse: () => isCurrent() && this.#again(),
      onFailure: () => isCurrent() && this.#again(),
    });
    this.#call = own.call;
    before?.cancel();
  }

  #pass(message: Message): boolean {
    if (message.kind !== "notification" || message.method === acknowledged) return true;
    return this.#sink.onMessage(withoutSubscription(message));
  }

  #again(): void {
    this.#timer = setTimeout(() => this.#open(), RETRY);
  }

  #request(): Message {
    const { features, subscriptions } = this.#context.session;
    const notifications = {
      ...(features.includes("t") ? { toolsListChanged: true } : {}),
      ...(features.includes("p") ? { promptsListChanged: true } : {}),
      ...(features.includes("r") ? { resourcesListChanged: true } : {}),
      ...(subscriptions.size === 0 ? {} : { resourceSubscriptions: [...subscriptions] }),
    };
    const params = JSON.stringify({ notifications });
    return ownMessage(
      `{"jsonrpc":"2.0","id":"gwc-listen","method":"subscriptions/listen","params":${params}}`,
    );
  }
}

/** Removes the subscription id, which belongs to the gateway. */
function withoutSubscription(message: Message): Message {
  const fields = metaFields(message);
  const meta = paramOf(message, "_meta");
  if (typeof fields === "string" || meta === undefined) return message;
  if (fields.get(metaKey.subscriptionId) === undefined) return message;
  const kept = [...fields.values()].filter(({ key }) => key !== metaKey.subscriptionId);
  const members = kept.map(({ keyStart, end }) => message.text.slice(keyStart, end));
  return edited(message, [{ start: meta.start, end: meta.end, text: `{${members.join(",")}}` }]);
}
