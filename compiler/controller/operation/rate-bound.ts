/** Lets some things happen at once, and from then on some each second. */
export class RateBound {
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #counted = performance.now();

  constructor(burst: number, perSecond: number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
  }

  /** Whether it may happen now: then it counts. */
  take(): boolean {
    const now = performance.now();
    const more = ((now - this.#counted) / 1000) * this.#perSecond;
    this.#left = Math.min(this.#burst, this.#left + more);
    this.#counted = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
