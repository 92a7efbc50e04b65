import { Bucket, type BucketLimit, type LimitBucket, type PersistedUse } from "./bucket.ts";
import type { SharedUses } from "./shared-uses.ts";

/** A bucket that threads share; each operation is atomic. */
export class SharedBucket implements LimitBucket {
  readonly #uses: SharedUses;
  readonly #digest: Buffer;
  readonly #limit: BucketLimit;
  readonly #changed: ((use: PersistedUse) => void) | undefined;

  /** `digest`: the digest of the key. `changed` is called under the lock after the usage has changed. */
  constructor(
    uses: SharedUses,
    digest: Buffer,
    limit: BucketLimit,
    changed?: (use: PersistedUse) => void,
  ) {
    this.#uses = uses;
    this.#digest = digest;
    this.#limit = limit;
    this.#changed = changed;
  }

  take(): number {
    return this.#with((bucket) => bucket.take());
  }

  wait(): number {
    return this.#with((bucket) => bucket.wait());
  }

  waitFor(amount: number): number {
    return this.#with((bucket) => bucket.waitFor(amount));
  }

  charge(amount: number): void {
    this.#with((bucket) => bucket.charge(amount));
  }

  #with<Result>(work: (bucket: Bucket) => Result): Result {
    return this.#uses.with(this.#digest, (use) =>
      work(new Bucket(this.#limit, use, this.#changed && (() => this.#changed?.(use)))),
    );
  }
}
