import type { CounterMetric, GaugeMetric, HistogramMetric, Metric } from "./metric.ts";

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

/** One level for each label: those that were asked for once are found again without a new string. */
interface Branch<Value> {
  readonly below: Map<string, Branch<Value>>;
  value: Value | undefined;
}

/** What is kept for each set of label values. */
export class LabelTree<Value> {
  readonly #create: (labels: readonly string[]) => Value;
  readonly #root: Branch<Value> = { below: new Map(), value: undefined };

  constructor(create: (labels: readonly string[]) => Value) {
    this.#create = create;
  }

  /** The one of these label values; it is made when it is asked for first. */
  at(labels: readonly string[]): Value {
    let branch = this.#root;
    for (const label of labels) {
      let next = branch.below.get(label);
      if (next === undefined) {
        next = { below: new Map(), value: undefined };
        branch.below.set(label, next);
      }
      branch = next;
    }
    branch.value ??= this.#create(labels);
    return branch.value;
  }
}

/** The content type of the Prometheus text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** A counter of one set of label values: whoever has it adds to `value`. */
export class Sample {
  value = 0;

  samples(name: string, labels: string): string {
    return sampleLine(name, labels, this.value);
  }
}

/** Gives the values of a metric when they are asked for: each with the values of its labels. */
export type Reader = () => Iterable<readonly [labels: readonly string[], value: number]>;

interface Written {
  samples(name: string, labels: string): string;
}

/** What is counted of one metric. */
export class Family<Series extends Written = Written> {
  readonly metric: Metric;
  readonly #series: LabelTree<Series>;
  readonly #labelled: { readonly labels: string; readonly series: Series }[] = [];
  readonly #readers = new Set<Reader>();

  constructor(metric: Metric, make: () => Series) {
    this.metric = metric;
    this.#series = new LabelTree((values) => {
      const series = make();
      this.#labelled.push({ labels: labelText(metric, values), series });
      return series;
    });
  }

  /** The one with these values of the labels; it is made when it is asked for first. */
  at(values: readonly string[]): Series {
    return this.#series.at(values);
  }

  /** Reads values from there too, until the function that is returned is called. */
  read(reader: Reader): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** In the Prometheus text format 0.0.4. */
  exposition(): string {
    const { name, kind, help } = this.metric;
    let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
    for (const { labels, series } of this.#labelled) text += series.samples(name, labels);
    // Of two who know the same thing the one that came last counts.
    const read = new Map<string, number>();
    for (const reader of this.#readers) {
      for (const [values, value] of reader()) read.set(labelText(this.metric, values), value);
    }
    for (const [labels, value] of read) text += sampleLine(name, labels, value);
    return text;
  }
}

/** Makes the family of a metric that is counted in samples. */
export function sampleFamily(metric: CounterMetric | GaugeMetric): Family<Sample> {
  return new Family(metric, () => new Sample());
}

/** The same of one that is counted in histograms. */
export function histogramFamily(metric: HistogramMetric): Family<Histogram> {
  return new Family(metric, () => new Histogram(metric.bounds));
}

function sampleLine(name: string, labels: string, value: number): string {
  return labels === "" ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;
}

function labelText({ labels }: Metric, values: readonly string[]): string {
  return labels.map((name, index) => `${name}="${escaped(values[index] ?? "")}"`).join(",");
}

/** A label value: backslash, quote and line feed are escaped. */
function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
