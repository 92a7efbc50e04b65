import { randomFillSync } from "node:crypto";

/** Random ids, made many at a time: asking the system for each would cost more than the span. */
export class TraceIds {
  readonly #random = Buffer.alloc(4096);
  #at = this.#random.length;

  /** 32 hex digits. */
  traceId(): string {
    return this.#take(16);
  }

  /** 16 hex digits. */
  spanId(): string {
    return this.#take(8);
  }

  #take(bytes: number): string {
    if (this.#at + bytes > this.#random.length) {
      randomFillSync(this.#random);
      this.#at = 0;
    }
    const id = this.#random.toString("hex", this.#at, this.#at + bytes);
    this.#at += bytes;
    // No id is all zeros.
    return /[^0]/.test(id) ? id : this.#take(bytes);
  }
}
