import { type ItemBuffer, viewOf } from "./item-buffer.ts";

/** A time as it stands before one is put over it: ten digits for the seconds, and nine behind them. */
export const noNanoseconds = "0".repeat(19);

/** Digits down to microseconds: the rest are zeros. */
const PUT_DIGITS = 16;

/**
 * Makes OTLP's times: nanoseconds since the epoch as decimal digits. Microseconds are exact, as far as numbers hold them, and
 * the rest are zeros; a second's digits are made once.
 */
export class NanosecondText {
  #second = -1;
  #text = "";
  readonly #digits = new Uint8Array(PUT_DIGITS);
  readonly #view = viewOf(this.#digits);

  /** `milliseconds` since the epoch, with fractions. */
  format(milliseconds: number): string {
    const microseconds = this.#begin(milliseconds);
    // The digit before them keeps their zeros.
    return `${this.#text}${String(1_000_000 + microseconds).slice(1)}000`;
  }

  /** Writes them over `noNanoseconds`. */
  put(items: ItemBuffer, at: number, milliseconds: number): void {
    const digits = this.#digits;
    let rest = this.#begin(milliseconds) | 0;
    for (let i = PUT_DIGITS - 1; i >= PUT_DIGITS - 6; i--) {
      const tens = (rest / 10) | 0;
      digits[i] = ZERO + rest - tens * 10;
      rest = tens;
    }
    items.put(at, this.#view, 0, PUT_DIGITS);
  }

  /** Makes the digits of the second, and gives the microseconds behind it. */
  #begin(milliseconds: number): number {
    const second = Math.floor(milliseconds / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = String(second);
      this.#digits.set(Buffer.from(this.#text.padStart(PUT_DIGITS - 6, "0"), "latin1"));
    }
    return Math.floor((milliseconds - second * 1000) * 1000);
  }
}

const ZERO = 0x30;
