/** Texts that are known for some time: at most so many, of which the oldest make room. */
export class Remembered {
  readonly #ends = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** `end`: milliseconds since 1970. */
  add(text: string, end: number): void {
    this.#ends.delete(text);
    this.#ends.set(text, end);
    if (this.#ends.size <= this.#max) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }

  has(text: string): boolean {
    const end = this.#ends.get(text);
    if (end === undefined) return false;
    if (end > Date.now()) return true;
    this.#ends.delete(text);
    return false;
  }
}
