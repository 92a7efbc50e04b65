import type { Origin } from "../diagnostics/diagnostic.ts";
import type { LlmPolicies } from "./llm-policies.ts";
import type { ServerPolicies } from "./server-policies.ts";

/** How a backend is reached, and what becomes of its requests, as configured: each part from the most specific place that has it. */
export interface BackendPolicies extends ServerPolicies {
  readonly ai?: LlmPolicies;
  readonly health?: HealthConfig;
}

/** `health`: when a server of several, or a provider of models, is left alone. Times in milliseconds. */
export interface HealthConfig {
  /** Whether a response is a failure; undefined: by its status. */
  readonly unhealthy: { readonly text: string; readonly origin: Origin } | undefined;
  readonly eviction: number | undefined;
  readonly restoreHealth: number | undefined;
  readonly consecutiveFailures: number | undefined;
  readonly healthThreshold: number | undefined;
  readonly active: ActiveHealthConfig | undefined;
  /** Percent of the servers. */
  readonly panicThreshold: number | undefined;
  readonly origin: Origin;
}

/** `health.active`: requests that ask a server how it does. Times in milliseconds. */
export interface ActiveHealthConfig {
  readonly path: string;
  readonly interval: number;
  readonly timeout: number;
  /** Undefined: 200 to 299. */
  readonly expectedStatuses: readonly number[] | undefined;
  readonly unhealthyThreshold: number;
  readonly healthyThreshold: number;
}

/** The policies of two places: each part from the more specific one that has it; those of models field by field. */
export function mergeBackendPolicies(
  general: BackendPolicies | undefined,
  specific: BackendPolicies | undefined,
): BackendPolicies {
  const ai = general?.ai && specific?.ai && { ai: { ...general.ai, ...specific.ai } };
  return { ...general, ...specific, ...ai };
}
