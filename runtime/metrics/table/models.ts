import type { CounterMetric, GaugeMetric, HistogramMetric } from "../metric.ts";

/** Two to the power of 0, 2, 4, ... 26. */
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index);
/** 0.01, 0.02, 0.04, ... 81.92. */
const durationBounds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100);
const FIRST_TOKEN_BOUNDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const;
const PER_TOKEN_BOUNDS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5,
] as const;

/** `gen_ai_client_token_usage` */
export const modelTokens = {
  kind: "histogram",
  name: "gen_ai_client_token_usage",
  help: "Tokens of requests to models.",
  labels: [
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
    "gen_ai_token_type",
  ],
  bounds: tokenBounds,
} as const satisfies HistogramMetric;

/** `gen_ai_client_prompt_tokens_total` */
export const promptTokens = {
  kind: "counter",
  name: "gen_ai_client_prompt_tokens_total",
  help: "Tokens of prompts, by whether the provider read them from its cache, wrote them to it, or neither.",
  labels: ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model", "cache"],
} as const satisfies CounterMetric;

/** `gwc_llm_cost_total` */
export const modelCost = {
  kind: "counter",
  name: "gwc_llm_cost_total",
  help: "Costs of requests to models in US dollars, by known prices and those of config.modelCatalog.",
  labels: [
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
  ],
} as const satisfies CounterMetric;

/** `gwc_llm_unpriced_calls_total` */
export const unpricedCalls = {
  kind: "counter",
  name: "gwc_llm_unpriced_calls_total",
  help: "Requests to models that used tokens and whose price is not known, so that their costs are not counted.",
  labels: ["gen_ai_provider_name", "gen_ai_request_model"],
} as const satisfies CounterMetric;

/** `gen_ai_server_request_duration` */
export const modelDuration = {
  kind: "histogram",
  name: "gen_ai_server_request_duration",
  help: "Seconds from a request to a provider to the end of its response.",
  labels: [
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
    "error_type",
  ],
  bounds: durationBounds,
} as const satisfies HistogramMetric;

/** `gen_ai_server_time_to_first_token` */
export const modelFirstToken = {
  kind: "histogram",
  name: "gen_ai_server_time_to_first_token",
  help: "Seconds to the first content of a model's stream.",
  labels: [
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
  ],
  bounds: FIRST_TOKEN_BOUNDS,
} as const satisfies HistogramMetric;

/** `gen_ai_server_time_per_output_token` */
export const modelPerToken = {
  kind: "histogram",
  name: "gen_ai_server_time_per_output_token",
  help: "Seconds per token of a model's stream after the first one.",
  labels: [
    "gen_ai_operation_name",
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_response_model",
  ],
  bounds: PER_TOKEN_BOUNDS,
} as const satisfies HistogramMetric;

/** `gwc_provider_health` */
export const providerHealth = {
  kind: "gauge",
  name: "gwc_provider_health",
  merged: "min",
  help: "Success of the last requests to a provider, from 0 to 1.",
  labels: ["route", "provider"],
} as const satisfies GaugeMetric;

/** `gwc_provider_pending_requests` */
export const providerPending = {
  kind: "gauge",
  name: "gwc_provider_pending_requests",
  help: "Requests to a provider in flight.",
  labels: ["route", "provider"],
} as const satisfies GaugeMetric;

/** `gwc_provider_ejected_seconds` */
export const providerEjected = {
  kind: "gauge",
  name: "gwc_provider_ejected_seconds",
  merged: "max",
  help: "Seconds until a provider gets requests again.",
  labels: ["route", "provider"],
} as const satisfies GaugeMetric;

/** `gwc_llm_cache_requests_total`; `result`: `hit`, `similar` for a hit by meaning, or `miss` if a provider was called. */
export const cacheRequests = {
  kind: "counter",
  name: "gwc_llm_cache_requests_total",
  help: "Requests to models that may be answered from the cache of their route.",
  labels: ["route", "result"],
} as const satisfies CounterMetric;

/** `gwc_llm_cache_saved_usd_total` */
export const cacheSaved = {
  kind: "counter",
  name: "gwc_llm_cache_saved_usd_total",
  help: "Costs in US dollars of the responses that were sent from a cache, when they were made.",
  labels: ["route"],
} as const satisfies CounterMetric;
