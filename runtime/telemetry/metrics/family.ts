import { Histogram } from "./histogram.ts";
import { LabelTree } from "./label-tree.ts";
import type { CounterMetric, GaugeMetric, HistogramMetric, Metric } from "./metric.ts";

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
