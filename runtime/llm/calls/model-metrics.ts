import type { MetricsPart, ServerState } from "../../process/metrics-part.ts";
import { SECOND } from "../../process/units.ts";
import { head, label } from "../../telemetry/metrics/exposition-text.ts";
import { Histogram } from "../../telemetry/metrics/histogram.ts";
import type { Usage } from "../chat/usage.ts";
import type { GuardVerdict } from "../guards/guard-run.ts";
import type { ProviderHealth } from "../providers/health.ts";

/** One request to a provider, when it is over. Times in seconds. */
export interface ModelCallFigures {
  /** `gen_ai.operation.name`. */
  readonly operation: string;
  /** `gen_ai.provider.name`. */
  readonly provider: string;
  readonly requestModel: string;
  /** Undefined: the provider named none. */
  readonly responseModel: string | undefined;
  /** Undefined: it went well. */
  readonly errorType: string | undefined;
  readonly duration: number;
  /** To the first content of a stream; undefined: there was none. */
  readonly firstToken: number | undefined;
  readonly usage: Usage | undefined;
}

/** A provider of a route, and how it does. */
interface ProviderState {
  readonly route: string;
  readonly name: string;
  readonly labels: string;
  readonly health: ProviderHealth;
}

/** Models with labels of their own: what clients name must not fill the memory of who reads the metrics. */
const maxModels = 100;

/** Two to the power of 0, 2, 4, ... 26. */
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index);
/** 0.01, 0.02, 0.04, ... 81.92. */
const durationBounds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100);
const firstTokenBounds = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** Counts requests to models by the names and buckets of OpenTelemetry's conventions for generative AI. */
export class ModelMetrics implements MetricsPart {
  readonly #models = new Set<string>();
  /** Those of several, by the labels of their route and their name. */
  readonly #providers = new Map<string, ProviderState>();
  /** By what they say: made once, not for every call. */
  readonly #labels = new Map<string, CallLabels>();
  /** By labels. */
  readonly #guards = new Map<string, number>();
  readonly #tokens = new Series("gen_ai_client_token_usage", "Tokens of requests.", tokenBounds);
  readonly #durations = new Series(
    "gen_ai_server_request_duration",
    "Seconds from a request to a provider to the end of its response.",
    durationBounds,
  );
  readonly #firstTokens = new Series(
    "gen_ai_server_time_to_first_token",
    "Seconds to the first content of streams.",
    firstTokenBounds,
  );
  readonly #perToken = new Series(
    "gen_ai_server_time_per_output_token",
    "Seconds for each token of streams after the first one.",
    perTokenBounds,
  );

  /** The counters of a process: they outlive a reload of the configuration. */
  static of(parts: Set<MetricsPart>): ModelMetrics {
    for (const part of parts) if (part instanceof ModelMetrics) return part;
    const added = new ModelMetrics();
    parts.add(added);
    return added;
  }

  call(figures: ModelCallFigures): void {
    const { operation, provider, errorType, duration, firstToken, usage } = figures;
    // Any client can name models that nobody has.
    const isServed = errorType === undefined;
    const request = this.#model(figures.requestModel, isServed);
    const response = this.#model(figures.responseModel ?? "", isServed);
    const labels = this.#labelsOf(operation, provider, request, response);
    this.#durations.add(labels.ofError(errorType ?? ""), duration);
    if (usage !== undefined) {
      this.#tokens.add(labels.input, usage.input);
      this.#tokens.add(labels.output, usage.output);
    }
    if (firstToken === undefined) return;
    this.#firstTokens.add(labels.call, firstToken);
    if (usage === undefined || usage.output < 2) return;
    this.#perToken.add(labels.call, (duration - firstToken) / (usage.output - 1));
  }

  /** The guards have seen a request, or a response. */
  guard(phase: "request" | "response", verdict: GuardVerdict): void {
    const labels = `phase="${phase}",action="${verdict}"`;
    this.#guards.set(labels, (this.#guards.get(labels) ?? 0) + 1);
  }

  /** From here on its health is shown; one of the same name before it was of an earlier configuration. */
  provider(route: string, name: string, health: ProviderHealth): void {
    const key = `${route}\n${name}`;
    if (this.#providers.get(key)?.health === health) return;
    const labels = `route="${label(route)}",provider="${label(name)}"`;
    this.#providers.set(key, { route, name, labels, health });
  }

  servers(): readonly ServerState[] {
    const now = performance.now();
    return Array.from(this.#providers.values(), ({ route, name, health }) => {
      const seconds = Math.ceil(health.ejectedFor(now) / SECOND);
      const isGood = seconds === 0;
      const text = isGood
        ? `health ${Math.round(health.score * 100)} %, ${health.pending} under way`
        : `not asked for ${seconds} s`;
      return { route, server: name, isGood, text };
    });
  }

  exposition(): string {
    const series = [this.#tokens, this.#durations, this.#firstTokens, this.#perToken];
    return series.map((each) => each.exposition()).join("") + this.#checks() + this.#health();
  }

  #checks(): string {
    if (this.#guards.size === 0) return "";
    const name = "gwc_guard_checks_total";
    const samples = Array.from(this.#guards, ([labels, count]) => `${name}{${labels}} ${count}\n`);
    return head(name, "counter", "Requests and responses that guards saw.") + samples.join("");
  }

  #health(): string {
    const now = performance.now();
    const gauge = (name: string, help: string, value: (health: ProviderHealth) => number): string =>
      head(name, "gauge", help) +
      Array.from(
        this.#providers.values(),
        ({ labels, health }) => `${name}{${labels}} ${value(health)}\n`,
      ).join("");
    if (this.#providers.size === 0) return "";
    return (
      gauge(
        "gwc_provider_health",
        "How its last requests went: 1 is all well.",
        ({ score }) => score,
      ) +
      gauge("gwc_provider_pending_requests", "Requests under way.", ({ pending }) => pending) +
      gauge(
        "gwc_provider_ejected_seconds",
        "Seconds for which it is not asked.",
        (health) => health.ejectedFor(now) / SECOND,
      )
    );
  }

  #labelsOf(operation: string, provider: string, request: string, response: string): CallLabels {
    const key = `${operation}\n${provider}\n${request}\n${response}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) {
      labels = new CallLabels(
        `gen_ai_operation_name="${label(operation)}",gen_ai_provider_name="${label(provider)}",` +
          `gen_ai_request_model="${label(request)}",gen_ai_response_model="${label(response)}"`,
      );
      this.#labels.set(key, labels);
    }
    return labels;
  }

  #model(name: string, isServed: boolean): string {
    if (name === "" || this.#models.has(name)) return name;
    if (!isServed || this.#models.size >= maxModels) return "other";
    this.#models.add(name);
    return name;
  }
}

/** Labels of a sample, as they are written; each is one object, by which its histogram is found. */
interface LabelText {
  readonly text: string;
}

/** The labels of calls that are counted together. */
class CallLabels {
  readonly call: LabelText;
  readonly input: LabelText;
  readonly output: LabelText;
  readonly #errors = new Map<string, LabelText>();

  constructor(text: string) {
    this.call = { text };
    this.input = { text: `${text},gen_ai_token_type="input"` };
    this.output = { text: `${text},gen_ai_token_type="output"` };
  }

  /** With the kind of an error; empty: there was none. */
  ofError(type: string): LabelText {
    let labels = this.#errors.get(type);
    if (labels === undefined) {
      labels = { text: `${this.call.text},error_type="${label(type)}"` };
      this.#errors.set(type, labels);
    }
    return labels;
  }
}

/** The histograms of one name by their labels. */
class Series {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #byLabels = new Map<LabelText, Histogram>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  add(labels: LabelText, value: number): void {
    let histogram = this.#byLabels.get(labels);
    if (histogram === undefined) {
      histogram = new Histogram(this.#bounds);
      this.#byLabels.set(labels, histogram);
    }
    histogram.add(value);
  }

  exposition(): string {
    let text = head(this.#name, "histogram", this.#help);
    for (const [labels, histogram] of this.#byLabels)
      text += histogram.samples(this.#name, labels.text);
    return text;
  }
}
