import { Bucket, type BucketLimit, type BucketUse } from "./bucket.ts";

/** Use of a limit that a replica counts alone while the store does not respond, from what it knew last. */
export class AwayUse {
  readonly #use: BucketUse;
  readonly #bucket: Bucket;
  /** Start of the window that was counted in. */
  #since: number | undefined;
  #count = 0;

  constructor(limit: BucketLimit, use: BucketUse) {
    this.#use = use;
    this.#bucket = new Bucket(limit, use);
    this.#since = use.since;
  }

  /** Amount that was counted in the present window, which the store does not know. */
  get count(): number {
    this.#refill();
    return this.#count;
  }

  /** Takes an amount and returns 0, or returns the milliseconds until it is available. */
  take(amount: number): number {
    this.#refill();
    const wait = amount === 0 ? this.#bucket.wait() : this.#bucket.waitFor(amount);
    if (wait === 0) this.charge(amount);
    return wait;
  }

  /** Takes an amount in any case, or gives back a negative one. */
  charge(amount: number): void {
    this.#refill();
    this.#bucket.charge(amount);
    this.#since = this.#use.since;
    this.#count += amount;
  }

  /** Forgets what was counted in earlier windows. */
  #refill(): void {
    this.#bucket.wait();
    if (this.#since !== undefined && this.#use.since !== this.#since) this.#count = 0;
    this.#since = this.#use.since;
  }
}
