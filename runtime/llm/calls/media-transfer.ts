import type { ResponseFacts } from "../chat/formats.ts";
import type { ReceivedHead } from "./received-head.ts";
import { receivedHeaders, type Transfer, type TransferOwner } from "./transfer.ts";

/** Forwards a response without text, such as audio, piece by piece and unread. */
export class MediaTransfer implements Transfer {
  readonly facts: ResponseFacts;
  readonly pieces = 0;
  readonly #owner: TransferOwner;
  readonly #head: ReceivedHead;

  constructor(owner: TransferOwner, head: ReceivedHead) {
    this.#owner = owner;
    this.#head = head;
    const { target, call } = owner.context;
    this.facts = target.unreadFacts?.(call) ?? {};
  }

  push(chunk: Buffer): boolean {
    const { exchange } = this.#owner.context;
    this.#begin();
    const isReady = exchange.write(chunk);
    if (!isReady) exchange.onDrain(() => this.#owner.resume());
    return this.#owner.keepPace(isReady);
  }

  end(): void {
    this.#begin();
    this.#owner.respond(this.facts);
    this.#owner.context.exchange.end();
  }

  stop(): void {}

  abortWith(): void {
    this.#owner.context.exchange.abort();
  }

  #begin(): void {
    const { context } = this.#owner;
    if (context.exchange.headersSent) return;
    this.#owner.contentBegan();
    context.exchange.writeHead(this.#head.status, receivedHeaders(this.#head, context));
  }
}
