import { SECOND } from "../../process/units.ts";

/** Milliseconds that are looked at together. */
const WINDOW_LENGTH = 10 * SECOND;

/** Of a hundred requests in a window as many may be sent to a further provider ... */
const EXTRA_SHARE = 0.2;

/** ... and these whatever the load: one request of a quiet gateway fails over too. */
const EXTRA_AT_LEAST = 10;

/** Bounds how many requests are sent to more than one provider: failing servers get no multiple of the load. */
export class RetryBudget {
  #windowEnd = 0;
  #requests = 0;
  #extra = 0;

  /** A client's request. `now`: milliseconds of the monotonic clock. */
  count(now: number): void {
    this.#move(now);
    this.#requests += 1;
  }

  /** Takes a further try from the budget; false: there is none left. */
  take(now: number): boolean {
    this.#move(now);
    if (this.#extra >= EXTRA_AT_LEAST + EXTRA_SHARE * this.#requests) return false;
    this.#extra += 1;
    return true;
  }

  #move(now: number): void {
    if (now < this.#windowEnd) return;
    this.#windowEnd = now + WINDOW_LENGTH;
    this.#requests = 0;
    this.#extra = 0;
  }
}
