import type { ServerHealth } from "../../backends/server-health.ts";
import { type Histogram, LabelTree, type Sample } from "../../metrics/family.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import {
  modelCost,
  modelDuration,
  modelFirstToken,
  modelPerToken,
  modelTokens,
  promptTokens,
  providerEjected,
  providerHealth,
  providerPending,
  unpricedCalls,
} from "../../metrics/table/models.ts";
import type { ServerState, ServerStates } from "../../process/server-states.ts";
import { SECOND } from "../../process/units.ts";
import type { Usage } from "../chat/usage.ts";

/** A completed request to a provider. Times are in seconds. */
export interface ModelCallFigures {
  /** `gen_ai.operation.name`. */
  readonly operation: string;
  /** `gen_ai.provider.name`. */
  readonly provider: string;
  readonly requestModel: string;
  /** `undefined` if the provider named no model. */
  readonly responseModel: string | undefined;
  /** `undefined` if the call succeeded. */
  readonly errorType: string | undefined;
  readonly duration: number;
  /** Time to the first content of a stream; `undefined` if there was no content. */
  readonly firstToken: number | undefined;
  readonly usage: Usage | undefined;
}

/** The part of a call by which it is counted. */
export type CallLabels = Pick<
  ModelCallFigures,
  "operation" | "provider" | "requestModel" | "responseModel" | "errorType"
>;

/** A provider of a route, and its health. */
interface ProviderState {
  readonly route: string;
  readonly name: string;
  readonly health: ServerHealth;
}

/**
 * Maximum number of models with labels of their own, so that names sent by clients cannot exhaust the memory of the metrics'
 * readers.
 */
const MAX_MODELS = 100;

/** Returns the seconds of each token of a stream after the first; `undefined` without a stream or a count of tokens. */
export function timePerToken({
  duration,
  firstToken,
  usage,
}: ModelCallFigures): number | undefined {
  if (firstToken === undefined || usage === undefined || usage.output < 2) return undefined;
  return (duration - firstToken) / (usage.output - 1);
}

/** Counts requests to models by the names and buckets of OpenTelemetry's conventions for generative AI. */
export class ModelMetrics implements ServerStates {
  readonly #metrics: Metrics;
  readonly #models = new Set<string>();
  readonly #series: LabelTree<ModelSeries>;
  /** Providers of groups, by the labels of their route and name. */
  readonly #providers = new Map<string, ProviderState>();
  /** Series that was used last, as the next call mostly has the same. */
  #last: CountedSeries | undefined;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#series = new LabelTree(
      ([operation = "", provider = "", request = "", response = ""]) =>
        new ModelSeries(metrics, [operation, provider, request, response]),
    );
  }

  call(figures: ModelCallFigures): void {
    const { errorType, duration, firstToken, usage } = figures;
    const series = this.#seriesOf(figures);
    series.duration(errorType ?? "").add(duration);
    if (usage !== undefined) {
      series.input.add(usage.input);
      series.output.add(usage.output);
      series.prompt("none").value += Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
      if (usage.cacheRead > 0) series.prompt("read").value += usage.cacheRead;
      if (usage.cacheWrite > 0) series.prompt("write").value += usage.cacheWrite;
    }
    if (firstToken !== undefined) series.firstToken.add(firstToken);
    const perToken = timePerToken(figures);
    if (perToken !== undefined) series.perToken.add(perToken);
  }

  /** Adds the costs of a call, in US dollars. */
  cost(figures: CallLabels, dollars: number): void {
    this.#seriesOf(figures).cost.value += dollars;
  }

  /** Counts a call that used tokens of a model without a price. */
  unpriced({ provider, requestModel, errorType }: CallLabels): void {
    const model = this.#model(requestModel, errorType === undefined);
    this.#metrics.counter(unpricedCalls, provider, model).value += 1;
  }

  /** Reports the health of a provider. Replaces a provider of the same name from an earlier configuration. */
  provider(route: string, name: string, health: ServerHealth): void {
    const key = `${route}\n${name}`;
    if (this.#providers.get(key)?.health === health) return;
    if (this.#providers.size === 0) this.#readHealth();
    this.#providers.set(key, { route, name, health });
  }

  servers(): readonly ServerState[] {
    const now = performance.now();
    return Array.from(this.#providers.values(), ({ route, name, health }) => {
      const seconds = Math.ceil(health.ejectedFor(now) / SECOND);
      const isGood = seconds === 0;
      const text = isGood
        ? `health ${Math.round(health.score * 100)} %, ${health.pending} in flight`
        : `ejected for ${seconds} s`;
      return { route, server: name, isGood, text };
    });
  }

  #readHealth(): void {
    const each = (value: (health: ServerHealth) => number) => () =>
      Array.from(
        this.#providers.values(),
        ({ route, name, health }) => [[route, name], value(health)] as const,
      );
    this.#metrics.read(
      providerHealth,
      each(({ score }) => score),
    );
    this.#metrics.read(
      providerPending,
      each(({ pending }) => pending),
    );
    this.#metrics.read(
      providerEjected,
      each((health) => health.ejectedFor(performance.now()) / SECOND),
    );
  }

  #seriesOf({
    operation,
    provider,
    requestModel,
    responseModel = "",
    errorType,
  }: CallLabels): ModelSeries {
    const last = this.#last;
    if (
      last?.requestModel === requestModel &&
      last.responseModel === responseModel &&
      last.provider === provider &&
      last.operation === operation
    ) {
      return last.series;
    }
    // Clients can name models that do not exist.
    const isServed = errorType === undefined;
    const request = this.#model(requestModel, isServed);
    const response = this.#model(responseModel, isServed);
    const series = this.#series.at([operation, provider, request, response]);
    if (isServed) this.#last = { operation, provider, requestModel, responseModel, series };
    return series;
  }

  #model(name: string, isServed: boolean): string {
    if (name === "" || this.#models.has(name)) return name;
    if (!isServed || this.#models.size >= MAX_MODELS) return "other";
    this.#models.add(name);
    return name;
  }
}

/** Labels of a series. */
interface CountedSeries extends Pick<ModelCallFigures, "operation" | "provider" | "requestModel"> {
  readonly responseModel: string;
  readonly series: ModelSeries;
}

/** Histograms of one operation with one model, created on first use. */
class ModelSeries {
  readonly #metrics: Metrics;
  readonly #labels: ModelLabels;
  readonly #durations = new Map<string, Histogram>();
  #input: Histogram | undefined;
  #output: Histogram | undefined;
  readonly #prompts = new Map<string, Sample>();
  #cost: Sample | undefined;
  #firstToken: Histogram | undefined;
  #perToken: Histogram | undefined;

  constructor(metrics: Metrics, labels: ModelLabels) {
    this.#metrics = metrics;
    this.#labels = labels;
  }

  /** `errorType`: empty for successful calls. */
  duration(errorType: string): Histogram {
    let found = this.#durations.get(errorType);
    if (found === undefined) {
      found = this.#metrics.histogram(modelDuration, ...this.#labels, errorType);
      this.#durations.set(errorType, found);
    }
    return found;
  }

  get input(): Histogram {
    this.#input ??= this.#metrics.histogram(modelTokens, ...this.#labels, "input");
    return this.#input;
  }

  get output(): Histogram {
    this.#output ??= this.#metrics.histogram(modelTokens, ...this.#labels, "output");
    return this.#output;
  }

  /** `cache`: `read`, `write` or `none`. */
  prompt(cache: string): Sample {
    let found = this.#prompts.get(cache);
    if (found === undefined) {
      const [operation, provider, request] = this.#labels;
      found = this.#metrics.counter(promptTokens, operation, provider, request, cache);
      this.#prompts.set(cache, found);
    }
    return found;
  }

  get cost(): Sample {
    this.#cost ??= this.#metrics.counter(modelCost, ...this.#labels);
    return this.#cost;
  }

  get firstToken(): Histogram {
    this.#firstToken ??= this.#metrics.histogram(modelFirstToken, ...this.#labels);
    return this.#firstToken;
  }

  get perToken(): Histogram {
    this.#perToken ??= this.#metrics.histogram(modelPerToken, ...this.#labels);
    return this.#perToken;
  }
}

type ModelLabels = readonly [
  operation: string,
  provider: string,
  request: string,
  response: string,
];
