/** How often a value lay below each of some bounds. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** One for each bound, then those above. */
  readonly #counts: Float64Array;
  #sum = 0;

  /** `bounds`: the upper ends, in rising order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /**
   * The value that a share (0..1) of the values does not exceed: linear within a bucket, as Prometheus estimates it; 0
   * before the first value, the last bound for what lies above.
   */
  quantile(share: number): number {
    const rank = this.#counts.reduce((sum, count) => sum + count, 0) * share;
    let below = 0;
    for (let bucket = 0; bucket < this.#bounds.length; bucket++) {
      const count = this.#counts[bucket] ?? 0;
      const [from, to] = [this.#bounds[bucket - 1] ?? 0, this.#bounds[bucket] ?? 0];
      if (below + count >= rank)
        return count === 0 ? from : from + ((to - from) * (rank - below)) / count;
      below += count;
    }
    return this.#bounds.at(-1) ?? 0;
  }

  /** Its samples in the Prometheus text format; `labels`: `a="b",c="d"`. */
  samples(name: string, labels: string): string {
    const before = labels === "" ? "" : `${labels},`;
    const place = labels === "" ? "" : `{${labels}}`;
    let text = "";
    let total = 0;
    for (let bucket = 0; bucket <= this.#bounds.length; bucket++) {
      total += this.#counts[bucket] ?? 0;
      text += `${name}_bucket{${before}le="${this.#bounds[bucket] ?? "+Inf"}"} ${total}\n`;
    }
    return `${text}${name}_sum${place} ${this.#sum}\n${name}_count${place} ${total}\n`;
  }
}
