import type { Handover, ThreadPorts } from "../../http/engine/handover/handover.ts";
import type { Gateway } from "../definition.ts";

/** How a thread serves what others hold, and they what it holds, from the first code on in which something is held. */
export class ThreadHandover {
  readonly #thread: number;
  /** Ways to other threads that nothing has gone over yet, by their indexes. */
  readonly #links = new Map<number, ThreadPorts>();
  #handover: Handover | undefined;

  /** `thread`: which one this is. */
  constructor(thread: number) {
    this.#thread = thread;
  }

  /** Undefined: neither this code nor code before it holds anything. */
  of(gateway: Gateway): Handover | undefined {
    this.#handover ??= gateway.handover?.(this.#thread);
    if (this.#handover !== undefined) {
      for (const link of this.#links.values()) this.#handover.link(link);
      this.#links.clear();
    }
    return this.#handover;
  }

  /** These lead to the thread of this index from now on. */
  link(link: ThreadPorts): void {
    if (this.#handover !== undefined) {
      this.#handover.link(link);
      return;
    }
    const { index, requests } = link;
    this.#links.set(index, link);
    requests.once("close", () => {
      if (this.#links.get(index) === link) this.#links.delete(index);
    });
  }
}
