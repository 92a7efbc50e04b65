import type { CounterMetric, GaugeMetric, HistogramMetric, Metric } from "./metric.ts";

/** Counts values in buckets. */
export class Histogram {
  readonly #bounds: readonly number[];
  /** One count per bound, followed by the count of larger values. */
  readonly #counts: Float64Array;
  #sum = 0;

  /** `bounds`: the upper ends of the buckets, ascending. */
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
   * Returns the quantile for a share from 0 to 1, with linear interpolation within a bucket, as Prometheus estimates it.
   * Returns 0 before the first value, and the last bound for larger values.
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

  /** Returns the samples in the Prometheus text format; `labels`: `a="b",c="d"`. */
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

/** One level per label, so that known label values are found without building a string. */
interface Branch<Value> {
  readonly below: Map<string, Branch<Value>>;
  value: Value | undefined;
}

/** Values by sets of label values. */
export class LabelTree<Value> {
  readonly #create: (labels: readonly string[]) => Value;
  readonly #root: Branch<Value> = { below: new Map(), value: undefined };

  constructor(create: (labels: readonly string[]) => Value) {
    this.#create = create;
  }

  /** Returns the value for these label values; creates it on first use. */
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

/** A counter for one set of label values; its owner increments `value`. */
export class Sample {
  value = 0;

  samples(name: string, labels: string): string {
    return sampleLine(name, labels, this.value);
  }
}

/** Reads the values of a metric on scraping, each with its label values. */
export type Reader = () => Iterable<readonly [labels: readonly string[], value: number]>;

interface Written {
  samples(name: string, labels: string): string;
}

/** The series of one metric. */
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

  /** Returns the series with these label values; creates it on first use. */
  at(values: readonly string[]): Series {
    return this.#series.at(values);
  }

  /** Adds a reader of further values. Returns a function that removes it. */
  read(reader: Reader): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** Returns the family in the Prometheus text format 0.0.4. */
  exposition(): string {
    const { name, kind, help } = this.metric;
    let text = `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
    for (const { labels, series } of this.#labelled) text += series.samples(name, labels);
    // If two readers return the same series, the newer reader wins.
    const read = new Map<string, number>();
    for (const reader of this.#readers) {
      for (const [values, value] of reader()) read.set(labelText(this.metric, values), value);
    }
    for (const [labels, value] of read) text += sampleLine(name, labels, value);
    return text;
  }
}

/** Creates the family of a counter or gauge. */
export function sampleFamily(metric: CounterMetric | GaugeMetric): Family<Sample> {
  return new Family(metric, () => new Sample());
}

/** Creates the family of a histogram. */
export function histogramFamily(metric: HistogramMetric): Family<Histogram> {
  return new Family(metric, () => new Histogram(metric.bounds));
}

function sampleLine(name: string, labels: string, value: number): string {
  return labels === "" ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;
}

function labelText({ labels }: Metric, values: readonly string[]): string {
  return labels.map((name, index) => `${name}="${escaped(values[index] ?? "")}"`).join(",");
}

/** Escapes backslash, quote and line feed in a label value. */
function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
