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

  /** Its samples in the Prometheus text format; `labels`: `a="b",c="d"`. */
  samples(name: string, labels: string): string {
    let text = "";
    let total = 0;
    for (let bucket = 0; bucket <= this.#bounds.length; bucket++) {
      total += this.#counts[bucket] ?? 0;
      text += `${name}_bucket{${labels},le="${this.#bounds[bucket] ?? "+Inf"}"} ${total}\n`;
    }
    return `${text}${name}_sum{${labels}} ${this.#sum}\n${name}_count{${labels}} ${total}\n`;
  }
}
