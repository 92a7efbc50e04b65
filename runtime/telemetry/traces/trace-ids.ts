import { randomBytes } from "node:crypto";
import type { HexId } from "../otlp/hex-id.ts";
import { viewOf } from "../otlp/item-buffer.ts";

/** Bytes that are asked for at a time: asking the system for each id would cost more than the span. */
const SUPPLY = 16_384;

/** Random ids. */
export class TraceIds {
  #bytes = viewOf(Buffer.alloc(0));
  #text = "";
  #digits = this.#bytes;
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
    if (this.#at + count > this.#digits.byteLength) this.#refill();
    const digits = this.#digits;
    const at = this.#at;
    this.#at += count;
    // No trace and no span has an id of zeros (W3C Trace Context 3.2.2.3).
    if (areZeros(digits, at, at + count)) return this.#take(count);
    return { text: this.#text.slice(at, at + count), digits, at, bytes: this.#bytes };
  }

  /** Spans that are open have ids of the digits before: those stay as they are. */
  #refill(): void {
    const bytes = randomBytes(SUPPLY);
    this.#bytes = viewOf(bytes);
    this.#text = bytes.toString("hex");
    this.#digits = viewOf(Buffer.from(this.#text, "latin1"));
    this.#at = 0;
  }
}

function areZeros(digits: DataView, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (digits.getUint8(i) !== 0x30) return false;
  return true;
}
