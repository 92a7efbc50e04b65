import type { Message } from "../protocol/message.ts";

/** What may wait: messages, and characters of them all. */
const MAX_MESSAGES = 256;
const MAX_CHARACTERS = 1_048_576;

/** What a server has said while no stream of its client was open, for the next one. */
export class WaitingMessages {
  readonly #messages: Message[] = [];
  #characters = 0;

  /** Keeps a message; returns the oldest ones, which had to make room. */
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

  /** Everything that waits, oldest first; nothing does any more. */
  takeAll(): Message[] {
    this.#characters = 0;
    return this.#messages.splice(0);
  }
}
