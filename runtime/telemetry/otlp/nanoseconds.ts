/**
 * Makes OTLP's times: nanoseconds since the epoch as decimal digits. Microseconds are exact, as far as numbers hold them, and
 * the rest are zeros; a second's digits are made once.
 */
export class NanosecondText {
  #second = -1;
  #digits = "";

  /** `milliseconds` since the epoch, with fractions. */
  format(milliseconds: number): string {
    const second = Math.floor(milliseconds / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#digits = String(second);
    }
    const microseconds = Math.floor((milliseconds - second * 1000) * 1000);
    // The digit before them keeps their zeros.
    return `${this.#digits}${String(1_000_000 + microseconds).slice(1)}000`;
  }
}
