import type {
  CounterMetric,
  GaugeMetric,
  HistogramMetric,
  Metric,
} from "../../runtime/metrics/metric.ts";

/** Purposes of queries. */
export interface QueryScope {
  /** Matchers of every series: `instance=~"$instance"`. */
  readonly matchers: readonly string[];
  /** Labels that every result keeps. */
  readonly labels: readonly string[];
  /** The window of rates: `5m`. */
  readonly window: string;
}

/** Which series of a metric a query takes, and what it tells apart; names of labels are checked by their types. */
export interface Selection<Of extends Metric> {
  readonly by?: readonly LabelOf<Of>[];
  /** Patterns that values match as a whole. */
  readonly where?: { readonly [Label in LabelOf<Of>]?: string };
}

type LabelOf<Of extends Metric> = Of["labels"][number];

/** Writes PromQL about metrics of the table. */
export class Promql {
  readonly #scope: QueryScope;

  constructor(scope: QueryScope) {
    this.#scope = scope;
  }

  /** Events per second. */
  rate<const Of extends CounterMetric>(metric: Of, selection: Selection<Of> = {}): string {
    const { window } = this.#scope;
    return this.#sum(`rate(${this.#series(metric.name, selection)}[${window}])`, selection);
  }

  /** Events within a window: `10m`. */
  increase<const Of extends CounterMetric>(
    metric: Of,
    window: string,
    selection: Selection<Of> = {},
  ): string {
    return this.#sum(`increase(${this.#series(metric.name, selection)}[${window}])`, selection);
  }

  /** The sum of a gauge. */
  sum<const Of extends GaugeMetric>(metric: Of, selection: Selection<Of> = {}): string {
    return this.#sum(this.#series(metric.name, selection), selection);
  }

  /** The least of a gauge. */
  min<const Of extends GaugeMetric>(metric: Of, selection: Selection<Of> = {}): string {
    return `min${this.#by(selection)} (${this.#series(metric.name, selection)})`;
  }

  /** The series of a gauge as they are. */
  each<const Of extends GaugeMetric>(metric: Of, selection: Selection<Of> = {}): string {
    return this.#series(metric.name, selection);
  }

  /** The value that a share (0..1) of the measured ones does not exceed. */
  quantile<const Of extends HistogramMetric>(
    share: number,
    metric: Of,
    selection: Selection<Of> = {},
  ): string {
    const { window, labels } = this.#scope;
    const buckets = `rate(${this.#series(`${metric.name}_bucket`, selection)}[${window}])`;
    const by = [...labels, ...(selection.by ?? []), "le"].join(", ");
    return `histogram_quantile(${share}, sum by (${by}) (${buckets}))`;
  }

  /** The measured amount of a histogram per second: its tokens, its seconds. */
  amount<const Of extends HistogramMetric>(metric: Of, selection: Selection<Of> = {}): string {
    const { window } = this.#scope;
    return this.#sum(
      `rate(${this.#series(`${metric.name}_sum`, selection)}[${window}])`,
      selection,
    );
  }

  /** How many measurements there are per second. */
  count<const Of extends HistogramMetric>(metric: Of, selection: Selection<Of> = {}): string {
    const { window } = this.#scope;
    return this.#sum(
      `rate(${this.#series(`${metric.name}_count`, selection)}[${window}])`,
      selection,
    );
  }

  #sum(series: string, selection: { readonly by?: readonly string[] }): string {
    return `sum${this.#by(selection)} (${series})`;
  }

  #by({ by = [] }: { readonly by?: readonly string[] }): string {
    const labels = [...this.#scope.labels, ...by];
    return labels.length === 0 ? "" : ` by (${labels.join(", ")})`;
  }

  #series(
    name: string,
    { where = {} }: { readonly where?: Readonly<Record<string, string | undefined>> },
  ): string {
    const own = Object.entries(where).map(
      ([label, pattern]) => `${label}=~${JSON.stringify(pattern)}`,
    );
    const matchers = [...this.#scope.matchers, ...own];
    return matchers.length === 0 ? name : `${name}{${matchers.join(",")}}`;
  }
}
