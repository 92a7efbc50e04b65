import {
  type Family,
  type Histogram,
  histogramFamily,
  type Sample,
  sampleFamily,
} from "./family.ts";
import type { FamilyFigures } from "./merged-exposition.ts";
import type { CounterMetric, GaugeMetric, HistogramMetric, LabelValues } from "./metric.ts";

/** The metrics of one gateway process. They outlive a reload of the configuration, as counters must. */
export class Metrics {
  readonly #samples = new Map<CounterMetric | GaugeMetric, Family<Sample>>();
  readonly #histograms = new Map<HistogramMetric, Family<Histogram>>();
  readonly #parts = new Map<object, object>();

  /** Returns the counter with these label values; callers hold on to it. */
  counter<const Of extends CounterMetric>(metric: Of, ...labels: LabelValues<Of>): Sample {
    return this.#samplesOf(metric).at(labels);
  }

  /** Returns the histogram with these label values. */
  histogram<const Of extends HistogramMetric>(metric: Of, ...labels: LabelValues<Of>): Histogram {
    let family = this.#histograms.get(metric);
    if (family === undefined) {
      family = histogramFamily(metric);
      this.#histograms.set(metric, family);
    }
    return family.at(labels);
  }

  /** Removes a metric with all its series. */
  remove(metric: CounterMetric): void {
    this.#samples.delete(metric);
  }

  /** Registers a reader that is called on scraping. Returns a function that removes it. */
  read<const Of extends CounterMetric | GaugeMetric>(
    metric: Of,
    reader: () => Iterable<readonly [labels: LabelValues<Of>, value: number]>,
  ): () => void {
    return this.#samplesOf(metric).read(reader);
  }

  /** Returns the process's instance of a class of counters; creates it on first use. */
  part<Part extends object>(kind: new (metrics: Metrics) => Part): Part {
    const found = this.#parts.get(kind);
    if (found instanceof kind) return found;
    const made = new kind(this);
    this.#parts.set(kind, made);
    return made;
  }

  /** Returns all instances of classes of counters. */
  parts(): Iterable<object> {
    return this.#parts.values();
  }

  /** Returns all metrics in the Prometheus text format 0.0.4, sorted by name. */
  exposition(): string {
    return [...this.#samples.values(), ...this.#histograms.values()]
      .toSorted((a, b) => (a.metric.name < b.metric.name ? -1 : 1))
      .map((family) => family.exposition())
      .join("");
  }

  /** Returns the same by metric, for merging the samples of several threads. */
  figures(): readonly FamilyFigures[] {
    return [...this.#samples.values(), ...this.#histograms.values()].map((family) => {
      const { name, kind, merged = "sum" } = family.metric;
      return { name, kind, merged, text: family.exposition() };
    });
  }

  #samplesOf(metric: CounterMetric | GaugeMetric): Family<Sample> {
    let family = this.#samples.get(metric);
    if (family === undefined) {
      family = sampleFamily(metric);
      this.#samples.set(metric, family);
    }
    return family;
  }
}

/** The counters of each upstream, by its name; created on first use. */
export class UpstreamCounts<Counts> {
  readonly #create: (upstream: string) => Counts;
  readonly #upstreams = new Map<string, Counts>();

  constructor(create: (upstream: string) => Counts) {
    this.#create = create;
  }

  to(upstream: string): Counts {
    let counts = this.#upstreams.get(upstream);
    if (counts === undefined) {
      counts = this.#create(upstream);
      this.#upstreams.set(upstream, counts);
    }
    return counts;
  }

  /** Returns a reader of one value per upstream, labelled with its name. */
  reader(value: (counts: Counts) => number): () => (readonly [labels: [string], value: number])[] {
    return () => Array.from(this.#upstreams, ([name, counts]) => [[name], value(counts)] as const);
  }
}
