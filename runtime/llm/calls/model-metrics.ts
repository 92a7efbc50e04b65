import type { ServerState, ServerStates } from "../../process/server-states.ts";
import { SECOND } from "../../process/units.ts";
import type { Metrics } from "../../telemetry/metrics/metrics.ts";
import {
  modelDuration,
  modelFirstToken,
  modelPerToken,
  modelTokens,
  providerEjected,
  providerHealth,
  providerPending,
} from "../../telemetry/metrics/table/models.ts";
import type { Usage } from "../chat/usage.ts";
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
  readonly health: ProviderHealth;
}

/** Models with labels of their own: what clients name must not fill the memory of who reads the metrics. */
const maxModels = 100;

/** Counts requests to models by the names and buckets of OpenTelemetry's conventions for generative AI. */
export class ModelMetrics implements ServerStates {
  readonly #metrics: Metrics;
  readonly #models = new Set<string>();
  /** Those of several, by the labels of their route and their name. */
  readonly #providers = new Map<string, ProviderState>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  call(figures: ModelCallFigures): void {
    const { operation, provider, errorType, duration, firstToken, usage } = figures;
    // Any client can name models that nobody has.
    const isServed = errorType === undefined;
    const request = this.#model(figures.requestModel, isServed);
    const response = this.#model(figures.responseModel ?? "", isServed);
    const labels = [operation, provider, request, response] as const;
    this.#metrics.histogram(modelDuration, ...labels, errorType ?? "").add(duration);
    if (usage !== undefined) {
      this.#metrics.histogram(modelTokens, ...labels, "input").add(usage.input);
      this.#metrics.histogram(modelTokens, ...labels, "output").add(usage.output);
    }
    if (firstToken === undefined) return;
    this.#metrics.histogram(modelFirstToken, ...labels).add(firstToken);
    if (usage === undefined || usage.output < 2) return;
    const perToken = (duration - firstToken) / (usage.output - 1);
    this.#metrics.histogram(modelPerToken, ...labels).add(perToken);
  }

  /** From here on its health is shown; one of the same name before it was of an earlier configuration. */
  provider(route: string, name: string, health: ProviderHealth): void {
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
        ? `health ${Math.round(health.score * 100)} %, ${health.pending} under way`
        : `not asked for ${seconds} s`;
      return { route, server: name, isGood, text };
    });
  }

  #readHealth(): void {
    const each = (value: (health: ProviderHealth) => number) => () =>
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

  #model(name: string, isServed: boolean): string {
    if (name === "" || this.#models.has(name)) return name;
    if (!isServed || this.#models.size >= maxModels) return "other";
    this.#models.add(name);
    return name;
  }
}
