import type { Origin } from "../diagnostics/diagnostic.ts";
import type { LlmPolicies } from "./llm-policies.ts";
import type { ServerPolicies } from "./server-policies.ts";

/**
 * Connection settings of a backend and policies for its requests, as configured: each part from the most specific place
 * that sets it.
 */
export interface BackendPolicies extends ServerPolicies {
  readonly ai?: LlmPolicies;
  readonly health?: HealthConfig;
}

/** `health`: when a server, or a provider of models, is excluded. Times are in milliseconds. */
export interface HealthConfig {
  /** Expression for failed responses; `undefined` to use the status. */
  readonly unhealthy: { readonly text: string; readonly origin: Origin } | undefined;
  readonly eviction: number | undefined;
  readonly restoreHealth: number | undefined;
  readonly consecutiveFailures: number | undefined;
  readonly healthThreshold: number | undefined;
  readonly active: ActiveHealthConfig | undefined;
  /** Percentage of the servers. */
  readonly panicThreshold: number | undefined;
  readonly origin: Origin;
}

/** `health.active`: requests that probe a server. Times are in milliseconds. */
export interface ActiveHealthConfig {
  readonly path: string;
  readonly interval: number;
  readonly timeout: number;
  /** `undefined` for 200 to 299. */
  readonly expectedStatuses: readonly number[] | undefined;
  readonly unhealthyThreshold: number;
  readonly healthyThreshold: number;
}

/**
 * Merges the policies of two places: each part from the more specific one that sets it; those for models field by
 * field.
 */
export function mergeBackendPolicies(
  general: BackendPolicies | undefined,
  specific: BackendPolicies | undefined,
): BackendPolicies {
  const ai = general?.ai && specific?.ai && { ai: { ...general.ai, ...specific.ai } };
  return { ...general, ...specific, ...ai };
}
