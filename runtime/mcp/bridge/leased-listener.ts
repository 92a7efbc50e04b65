import { randomUUID } from "node:crypto";
import { type Message, ownMessage } from "../protocol/message.ts";
import { rpcResult } from "../protocol/rpc-response.ts";
import {
  acknowledgement,
  LIST_SUBSCRIPTIONS,
  readFilter,
  type SubscriptionFilter,
} from "../stateless/subscription-filter.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import type { Call, CallSink } from "../transports/target.ts";
import { type Lease, type LeaseOptions, openLease, refusalOf } from "./lease.ts";

/** The pool of idle sessions, for a subscription. */
export interface SpareSessions {
  take(): Lease | undefined;
  giveBack(lease: Lease): void;
}

/**
 * A subscription of a client without sessions to a target with sessions. It opens its own session and forwards the changes
 * from its stream. If the target does not report any requested change, it returns the session.
 */
export class LeasedListener implements Call {
  readonly #options: LeaseOptions;
  readonly #request: Message;
  readonly #sink: CallSink;
  readonly #spare: SpareSessions;
  #lease: Lease | undefined;
  #isOver = false;

  constructor(options: LeaseOptions, request: Message, sink: CallSink, spare: SpareSessions) {
    this.#options = options;
    this.#spare = spare;
    this.#request = request;
    this.#sink = sink;
  }

  async start(): Promise<void> {
    const known = this.#spare.take();
    const outcome = known
      ? { kind: "lease" as const, lease: known }
      : await openLease(this.#options);
    if (outcome.kind === "failure") {
      this.#sink.onFailure(outcome.failure);
      return;
    }
    const { lease } = outcome;
    const asked = readFilter(this.#request) ?? { lists: [], uris: [] };
    const lists = asked.lists.filter((name) => offers(lease, name));
    if (
      lists.length === 0 &&
      (asked.uris.length === 0 || !offers(lease, "resourceSubscriptions"))
    ) {
      this.#spare.giveBack(lease);
      if (!this.#isOver) this.#acknowledge({ lists: [], uris: [] });
      return;
    }
    this.#lease = lease;
    const heard = new Set(lists.map((name) => LIST_SUBSCRIPTIONS.get(name)));
    await lease.link.listen({
      onMessage: (message) => this.#take(message, heard),
      onEnd: () => this.#end(),
    });
    const uris = await this.#subscribe(lease, asked.uris);
    if (this.#isOver) lease.link.close();
    else this.#acknowledge({ lists, uris });
  }

  cancel(): void {
    this.#isOver = true;
    this.#lease?.link.close();
  }

  /** Does nothing: only small change notifications wait while a client reads slowly. */
  resume(): void {}

  #acknowledge(filter: SubscriptionFilter): void {
    this.#sink.onMessage(acknowledgement(this.#request.id, filter));
  }

  /** Subscribes to the resources; returns those that the server accepted. */
  async #subscribe(lease: Lease, uris: readonly string[]): Promise<readonly string[]> {
    const taken: string[] = [];
    for (const uri of uris) {
      if (this.#isOver || !offers(lease, "resourceSubscriptions")) break;
      const params = JSON.stringify({ uri });
      const message = ownMessage(
        `{"jsonrpc":"2.0","id":"${randomUUID()}","method":"resources/subscribe","params":${params}}`,
      );
      const outcome = await outcomeOf(
        (sink) => lease.link.call(this.#options.exchange, message, sink),
        this.#options.backend.timeouts.fanOut,
      );
      if (outcome.kind === "response" && outcome.response.result !== undefined) taken.push(uri);
    }
    return taken;
  }

  #take(message: Message, heard: ReadonlySet<string | undefined>): boolean {
    if (message.kind === "request") {
      const isPing = message.method === "ping";
      const response = isPing ? ownMessage(rpcResult(message.id, "{}")) : refusalOf(message);
      this.#lease?.link.send(response);
      return true;
    }
    const isUpdate = message.method === "notifications/resources/updated";
    if (isUpdate || heard.has(message.method)) this.#sink.onMessage(message);
    return true;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onFailure({ kind: "closed", detail: "the target has ended" });
  }
}

/** Whether the server supports such a subscription. */
function offers({ opened: { capabilities = {} } }: Lease, name: string): boolean {
  switch (name) {
    case "toolsListChanged":
      return capabilities.tools?.listChanged === true;
    case "promptsListChanged":
      return capabilities.prompts?.listChanged === true;
    case "resourcesListChanged":
      return capabilities.resources?.listChanged === true;
    default:
      return capabilities.resources?.subscribe === true;
  }
}
