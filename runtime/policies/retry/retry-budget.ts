import { SECOND } from "../../process/units.ts";

/** Length of a counting window in milliseconds. */
const WINDOW_LENGTH = 10 * SECOND;

/** Share of the requests in a window that may be retried with another provider. */
const EXTRA_SHARE = 0.2;

/** Number of retries that are always allowed, so that a quiet gateway fails over too. */
const EXTRA_AT_LEAST = 10;

/** Limits the number of requests that are sent to more than one provider, so that failing servers do not multiply the load. */
export class RetryBudget {
  #windowEnd = 0;
  #requests = 0;
  #extra = 0;

  /** Counts a client's request. `now`: milliseconds of the monotonic clock. */
  count(now: number): void {
    this.#move(now);
    this.#requests += 1;
  }

  /** Takes a retry from the budget; returns false if it is used up. */
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
