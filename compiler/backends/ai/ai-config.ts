import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { RouteType } from "../../model/llm-policies.ts";
import type { Text } from "../../model/texts.ts";
import type { PickingConfig } from "../inference-pool/inference-pool-config.ts";
import type { RequestedApi } from "./door-apis.ts";
import type { ModelConditions } from "./model-conditions.ts";
import type { ProviderOptions } from "./providers/index.ts";

/** `ai` as configured: groups in order of preference. */
export interface AiConfig {
  readonly groups: readonly (readonly ProviderConfig[])[];
  /**
   * Model that each group serves exclusively, by the name that clients use (at most one `*`, at an end); absent if
   * all serve any. Groups of the same model have different conditions.
   */
  readonly models?: readonly string[];
  /** Which requests each group serves, besides its model; absent if all groups serve all. */
  readonly conditions?: readonly (ModelConditions | undefined)[];
  /** Groups to which requests to other paths pass unread; absent without such groups. */
  readonly passed?: readonly number[];
  /** Names of `models` that only virtual models use. */
  readonly internal?: readonly string[];
  /** APIs of the `llm` section that the configuration requests; absent if there are none. */
  readonly apis?: readonly RequestedApi[];
  /** Virtual models, which route to others. */
  readonly virtualModels?: readonly VirtualModelConfig[];
}

/** One provider of a group. */
export interface ProviderConfig {
  /** Name in logs and for clients. */
  readonly name: string;
  readonly options: ProviderOptions;
  /** Location of its options. */
  readonly optionsOrigin: Origin;
  /** Another server with the provider's API. */
  readonly server: ServerAddress | undefined;
  /** Choice of one of several servers at that address; absent for a single one. */
  readonly picking?: PickingConfig;
  /** Another port of the provider's own server. */
  readonly port: number | undefined;
  /** Path that replaces the base path of the provider's API: `/v1`. */
  readonly prefix: string | undefined;
  /** Path of the API, instead of the provider's own. */
  readonly path: string | undefined;
  /**
   * Location of the setting that deducts an estimate of a request's tokens from limits before it is sent;
   * `undefined` if not set.
   */
  readonly tokenize: Origin | undefined;
  readonly policies: BackendPolicies | undefined;
  /** Types of traffic on request that it serves; absent if all that its API has. */
  readonly onRequest?: readonly RouteType[];
  readonly origin: Origin;
}

/** Address of a server: `host:port`, or a URL. */
export interface ServerAddress {
  readonly address: Text;
  /** Whether its path replaces the base path of the provider's API; otherwise it is put before that. */
  readonly isBaseUrl: boolean;
  readonly origin: Origin;
}

/** A virtual model as configured in a file, which routes to other models of the `llm` section. */
export interface VirtualModelConfig {
  /** Name that clients use. */
  readonly name: string;
  /** For failover, tiers in order of priority; otherwise a single list. */
  readonly routing:
    | { readonly kind: "failover"; readonly tiers: readonly (readonly VirtualTarget[])[] }
    | { readonly kind: "weighted"; readonly targets: readonly WeightedTarget[] }
    | { readonly kind: "conditional"; readonly targets: readonly ConditionalTarget[] };
  readonly origin: Origin;
}

/** A model to which a virtual model routes, by the name that clients use. */
export interface VirtualTarget {
  readonly model: string;
  readonly origin: Origin;
}

interface ConditionalTarget extends VirtualTarget {
  /** Condition of the route; `undefined` for always. */
  readonly when: { readonly text: string; readonly origin: Origin } | undefined;
}

interface WeightedTarget extends VirtualTarget {
  readonly weight: number;
}
