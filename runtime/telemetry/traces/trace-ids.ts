import { randomFillSync } from "node:crypto";
import type { HexId } from "../otlp/hex-id.ts";

/** Bytes that are asked for at a time: asking the system for each id would cost more than the span. */
const supply = 16_384;

/** Those that no trace and no span may have (W3C Trace Context 3.2.2.3). */
const noIds: readonly string[] = ["0".repeat(32), "0".repeat(16)];

/** Random ids. */
export class TraceIds {
  readonly #bytes = Buffer.allocUnsafeSlow(supply);
  #text = "";
  #digits = Buffer.alloc(0);
  #at = 0;

  /** 32 hex digits. */
  traceId(): HexId {
    return this.#take(32);
  }

  /** 16 hex digits. */
  spanId(): HexId {
    return this.#take(16);
  }

  #take(count: number): HexId {
    if (this.#at + count > this.#digits.length) this.#refill();
    const at = this.#at;
    this.#at += count;
    const text = this.#text.slice(at, at + count);
    return noIds.includes(text) ? this.#take(count) : { text, digits: this.#digits, at };
  }

  /** Spans that are open have ids of the digits before: those stay as they are. */
  #refill(): void {
    this.#text = randomFillSync(this.#bytes).toString("hex");
    this.#digits = Buffer.from(this.#text, "latin1");
    this.#at = 0;
  }
}
