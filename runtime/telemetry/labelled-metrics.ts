import { fieldText } from "../cel/values/field-text.ts";
import type { Exchange } from "../http/exchange.ts";
import type { CounterMetric } from "../metrics/metric.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { labelledCost, labelledRequests, labelledTokens } from "../metrics/table/requests.ts";

/** Names and values of labels. */
interface LabelSettings {
  readonly names: readonly string[];
  /** Returns the values of the labels after a request; `undefined` if an expression failed. */
  readonly values: (request: Exchange, status: number | undefined) => readonly unknown[];
}

/** Labels that a configuration adds to metrics of requests. */
export interface MetricLabels extends LabelSettings {
  /** Begins to count by them. */
  open(metrics: Metrics): LabelledMetrics;
}

/** Creates labels; only gateways with labels contain this code. */
export function labelMetrics(settings: LabelSettings): MetricLabels {
  return { ...settings, open: (metrics) => new LabelledMetrics(metrics, settings) };
}

/** Maximum number of combinations of values; further ones count together, so that clients cannot fill the memory. */
const MAX_COMBINATIONS = 1000;
/** Maximum length of a value in UTF-16 units. */
const MAX_LENGTH = 128;

/** Counts requests, tokens and costs by labels of the configuration. */
export class LabelledMetrics {
  readonly #metrics: Metrics;
  readonly #requests: CounterMetric;
  readonly #tokens: CounterMetric;
  readonly #cost: CounterMetric;
  readonly #seen = new Set<string>();
  #labels: LabelSettings;

  constructor(metrics: Metrics, labels: LabelSettings) {
    this.#metrics = metrics;
    this.#labels = labels;
    this.#requests = withLabels(labelledRequests, labels.names);
    this.#tokens = withLabels(labelledTokens, labels.names);
    this.#cost = withLabels(labelledCost, labels.names);
  }

  /** Takes over labels with the same names, and keeps the counts; returns false if the names differ. */
  accept(labels: LabelSettings): boolean {
    if (labels.names.join() !== this.#labels.names.join()) return false;
    this.#labels = labels;
    return true;
  }

  /** Removes its metrics. */
  withdraw(): void {
    this.#metrics.remove(this.#requests);
    this.#metrics.remove(this.#tokens);
    this.#metrics.remove(this.#cost);
  }

  /** Counts a finished request; `status` is `undefined` if the client disconnected before the response. */
  ended(exchange: Exchange, status: number | undefined): void {
    const own = this.#bounded(this.#labels.values(exchange, status).map(labelText));
    const { listener = "unknown", route = "unknown" } = exchange.record;
    const common = [listener, route, String(status ?? "unknown")];
    this.#metrics.counter(this.#requests, ...common, ...own).value += 1;
    const { inputTokens = 0, outputTokens = 0, cost } = exchange.attributes.llm ?? {};
    if (inputTokens > 0) this.#metrics.counter(this.#tokens, "input", ...own).value += inputTokens;
    if (outputTokens > 0)
      this.#metrics.counter(this.#tokens, "output", ...own).value += outputTokens;
    if (cost !== undefined) this.#metrics.counter(this.#cost, ...own).value += cost.total;
  }

  #bounded(values: readonly string[]): readonly string[] {
    const key = JSON.stringify(values);
    if (!this.#seen.has(key)) {
      if (this.#seen.size >= MAX_COMBINATIONS) return values.map(() => "other");
      this.#seen.add(key);
    }
    return values;
  }
}

function withLabels(metric: CounterMetric, names: readonly string[]): CounterMetric {
  return { ...metric, labels: [...metric.labels, ...names] };
}

function labelText(value: unknown): string {
  return fieldText(value)?.slice(0, MAX_LENGTH) ?? "unknown";
}
