import type { Window } from "./windows.ts";

/** What a bucket holds, and what comes back. */
export interface BucketLimit {
  /** What it holds at most, and at first. */
  readonly capacity: number;
  /** What each interval brings back. */
  readonly refill: number;
  readonly window: Window;
}

/** What was taken of a bucket. */
export interface BucketUse {
  /** More than the bucket holds: the rest is owed. */
  used: number;
  /** When the interval began up to which `used` has been made less, in milliseconds; undefined: nothing was asked for. */
  since: number | undefined;
}

/** The same of a limit that a restart does not reset. */
export interface KeptUse extends BucketUse {
  /** When nothing of it will count any more, in milliseconds. */
  until: number;
}

/** Until when what was used of a limit counts. */
export function countsUntil({ window, refill }: BucketLimit, { used, since }: BucketUse): number {
  return window.after(since ?? window.now(), Math.max(0, Math.ceil(used / refill)));
}

/** What requests and calls take from. */
export type LimitBucket = Pick<Bucket, "take" | "wait" | "waitFor" | "charge">;

/** One bucket, refilled when it is looked at. */
export class Bucket {
  readonly #limit: BucketLimit;
  readonly #use: BucketUse;
  readonly #changed: (() => void) | undefined;

  /** `changed` is called when something was taken. */
  constructor(limit: BucketLimit, use?: BucketUse, changed?: () => void) {
    this.#limit = limit;
    this.#use = use ?? { used: 0, since: undefined };
    this.#changed = changed;
  }

  /** Takes one: 0; or there is none: the milliseconds until the next ones come. */
  take(): number {
    const wait = this.wait();
    if (wait === 0) this.charge(1);
    return wait;
  }

  /** 0: there is something; or the milliseconds until there is. */
  wait(): number {
    const now = this.#refill();
    const left = this.#left;
    return left > 0 ? 0 : this.#until(Math.floor(-left / this.#limit.refill) + 1, now);
  }

  /** 0: so much is there, or all that the bucket can hold; or the milliseconds until it is. */
  waitFor(amount: number): number {
    const now = this.#refill();
    const missing = Math.min(amount, this.#limit.capacity) - this.#left;
    return missing <= 0 ? this.wait() : this.#until(Math.ceil(missing / this.#limit.refill), now);
  }

  /** Takes what has been used, and gives back what is negative: what the bucket does not hold is owed. */
  charge(amount: number): void {
    if (amount === 0) return;
    this.#refill();
    // What is given back may have come back by itself.
    this.#use.used = Math.max(0, this.#use.used + amount);
    this.#changed?.();
  }

  get #left(): number {
    return this.#limit.capacity - this.#use.used;
  }

  /** What has come back by now. */
  #refill(): number {
    const { refill, window } = this.#limit;
    const now = window.now();
    const { since } = this.#use;
    if (since === undefined) this.#use.since = window.begin(now);
    else {
      // A clock may be set back: then nothing comes back for as long.
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
