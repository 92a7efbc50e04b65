import type { Window } from "./windows.ts";

/** The size of a bucket and how it is refilled. */
export interface BucketLimit {
  /** Maximum and initial number of tokens. */
  readonly capacity: number;
  /** Number of tokens that each interval adds. */
  readonly refill: number;
  readonly window: Window;
}

/** The usage of a bucket. */
export interface BucketUse {
  /** May exceed the capacity; the rest is owed. */
  used: number;
  /** Start of the interval up to which refills are included, in milliseconds; `undefined` before the first use. */
  since: number | undefined;
}

/** The usage of a limit that a restart does not reset. */
export interface PersistedUse extends BucketUse {
  /** When the usage no longer counts, in milliseconds. */
  until: number;
}

/** Returns when the usage of a limit no longer counts. */
export function countsUntil({ window, refill }: BucketLimit, { used, since }: BucketUse): number {
  return window.after(since ?? window.now(), Math.max(0, Math.ceil(used / refill)));
}

/** The operations on a bucket. */
export type LimitBucket = Pick<Bucket, "take" | "wait" | "waitFor" | "charge">;

/** A bucket that is refilled on each access. */
export class Bucket {
  readonly #limit: BucketLimit;
  readonly #use: BucketUse;
  readonly #changed: (() => void) | undefined;

  /** `changed` is called after the usage has changed. */
  constructor(limit: BucketLimit, use?: BucketUse, changed?: () => void) {
    this.#limit = limit;
    this.#use = use ?? { used: 0, since: undefined };
    this.#changed = changed;
  }

  /** Takes a token and returns 0; if none is left, returns the milliseconds until the next refill. */
  take(): number {
    const wait = this.wait();
    if (wait === 0) this.charge(1);
    return wait;
  }

  /** Returns 0 if a token is left, or the milliseconds until there is one. */
  wait(): number {
    const now = this.#refill();
    const left = this.#left;
    return left > 0 ? 0 : this.#until(Math.floor(-left / this.#limit.refill) + 1, now);
  }

  /** Returns 0 if the amount (at most the capacity) is available, or the milliseconds until it is. */
  waitFor(amount: number): number {
    const now = this.#refill();
    const missing = Math.min(amount, this.#limit.capacity) - this.#left;
    return missing <= 0 ? this.wait() : this.#until(Math.ceil(missing / this.#limit.refill), now);
  }

  /** Takes an amount, or gives back a negative one. An amount that exceeds the tokens is owed. */
  charge(amount: number): void {
    if (amount === 0) return;
    this.#refill();
    // Tokens that are given back may already have been refilled.
    this.#use.used = Math.max(0, this.#use.used + amount);
    this.#changed?.();
  }

  get #left(): number {
    return this.#limit.capacity - this.#use.used;
  }

  /** Adds the refills until now. */
  #refill(): number {
    const { refill, window } = this.#limit;
    const now = window.now();
    const { since } = this.#use;
    if (since === undefined) this.#use.since = window.begin(now);
    else {
      // If the clock is set back, nothing is refilled until it has caught up.
      const count = Math.max(0, window.passed(since, now));
      if (count > 0) {
        this.#use.since = window.after(since, count);
        this.#use.used = Math.max(0, this.#use.used - count * refill);
      }
    }
    return now;
  }

  #until(count: number, now: number): number {
    return this.#limit.window.after(this.#use.since ?? now, count) - now;
  }
}
