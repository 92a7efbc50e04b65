import { randomBytes } from "node:crypto";

/** Bytes that are asked for at a time: asking the system for each id would cost more than the span. */
const supply = 4096;

/** Those that no trace and no span may have (W3C Trace Context 3.2.2.3). */
const noIds: readonly string[] = ["0".repeat(32), "0".repeat(16)];

/** Random ids. */
export class TraceIds {
  #digits = "";
  #at = 0;

  /** 32 hex digits. */
  traceId(): string {
    return this.#take(32);
  }

  /** 16 hex digits. */
  spanId(): string {
    return this.#take(16);
  }

  #take(count: number): string {
    if (this.#at + count > this.#digits.length) {
      this.#digits = randomBytes(supply).toString("hex");
      this.#at = 0;
    }
    const id = this.#digits.slice(this.#at, this.#at + count);
    this.#at += count;
    return noIds.includes(id) ? this.#take(count) : id;
  }
}
