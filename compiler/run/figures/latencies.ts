/** Number of buckets, of which each is wider than the one before by the square root of two: 0.5 ms to 6 minutes. */
const BUCKETS = 40;

/** Upper end of the first bucket, in milliseconds. */
const FIRST = 0.5;

/** Durations in buckets that grow, so that a quantile is off by a fifth at most. */
export class Latencies {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  /** Adds a duration in milliseconds. */
  add(duration: number): void {
    const bucket = duration <= FIRST ? 0 : Math.ceil(2 * Math.log2(duration / FIRST));
    const at = Math.min(bucket, BUCKETS - 1);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#total += 1;
  }

  /** Adds the durations of another one. */
  addAll(other: Latencies): void {
    for (let at = 0; at < BUCKETS; at++)
      this.#counts[at] = (this.#counts[at] ?? 0) + (other.#counts[at] ?? 0);
    this.#total += other.#total;
  }

  /** Returns a quantile in milliseconds, interpolated within its bucket; `undefined` without durations. */
  quantile(share: number): number | undefined {
    if (this.#total === 0) return undefined;
    const rank = share * this.#total;
    let below = 0;
    for (let at = 0; at < BUCKETS; at++) {
      const count = this.#counts[at] ?? 0;
      if (count > 0 && below + count >= rank) {
        const [from, to] = [at === 0 ? 0 : upperEnd(at - 1), upperEnd(at)];
        return from + ((to - from) * (rank - below)) / count;
      }
      below += count;
    }
    return upperEnd(BUCKETS - 1);
  }
}

function upperEnd(bucket: number): number {
  return FIRST * 2 ** (bucket / 2);
}
