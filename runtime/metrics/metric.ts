/** A number that only grows: `name` ends in `_total`. */
export interface CounterMetric extends Described {
  readonly kind: "counter";
}

/** A number that rises and falls. */
export interface GaugeMetric extends Described {
  readonly kind: "gauge";
}

/** How values are spread: `name` ends in their unit. */
export interface HistogramMetric extends Described {
  readonly kind: "histogram";
  /** The upper ends of the buckets, in rising order. */
  readonly bounds: readonly number[];
}

/** Something that a gateway counts or measures: a row of the table (`table/`), by Prometheus' conventions for names. */
export type Metric = CounterMetric | GaugeMetric | HistogramMetric;

/** The values of a metric's labels, in their order. */
export type LabelValues<Of extends Metric> = TextForEach<Of["labels"]>;

type TextForEach<Labels extends readonly string[]> = { readonly [At in keyof Labels]: string };

/**
 * What a metric is of several threads that measure it: what each counted is added up, but one may be the same whoever says
 * it, or the worst that any of them saw.
 */
export type MergedValue = "sum" | "same" | "least" | "most";

interface Described {
  readonly name: string;
  /** Absent: `sum`. */
  readonly merged?: MergedValue;
  /** One sentence: the HELP line, and what the documents say. */
  readonly help: string;
  /** Names of labels; each has few values. */
  readonly labels: readonly string[];
}
