/** A number that only grows: `name` ends in `_total`. */
export interface CounterMetric extends Described {
  readonly kind: "counter";
}

/** A number that rises and falls. */
export interface GaugeMetric extends Described {
  readonly kind: "gauge";
}

/** A distribution of values: `name` ends in their unit. */
export interface HistogramMetric extends Described {
  readonly kind: "histogram";
  /** The upper ends of the buckets, ascending. */
  readonly bounds: readonly number[];
}

/** A metric of a gateway: a row of the table (`table/`), named by Prometheus' conventions. */
export type Metric = CounterMetric | GaugeMetric | HistogramMetric;

/** The values of a metric's labels, in order. */
export type LabelValues<Of extends Metric> = TextForEach<Of["labels"]>;

type TextForEach<Labels extends readonly string[]> = { readonly [At in keyof Labels]: string };

/**
 * How the values of several threads are merged: their sum, any of them because all are the same, or their minimum or
 * maximum.
 */
export type MergedValue = "sum" | "same" | "min" | "max";

interface Described {
  readonly name: string;
  /** `sum` if absent. */
  readonly merged?: MergedValue;
  /** One sentence, for the HELP line and the reference. */
  readonly help: string;
  /** Names of labels; each has few values. */
  readonly labels: readonly string[];
}
