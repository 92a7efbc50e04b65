import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { Text } from "../../model/texts.ts";
import type { ProviderOptions } from "./providers/index.ts";

/** `ai` as configured: groups in the order in which they are asked. */
export interface AiConfig {
  readonly groups: readonly (readonly ProviderConfig[])[];
  /** The model that each group alone serves, by the name that clients use (one `*` at an end); absent: all serve any. */
  readonly models?: readonly string[];
  /** Models that stand for others of them. */
  readonly virtualModels?: readonly VirtualModelConfig[];
}

/** One provider of a group. */
export interface ProviderConfig {
  /** What logs and clients know it as. */
  readonly name: string;
  readonly options: ProviderOptions;
  /** Where its options stand. */
  readonly optionsOrigin: Origin;
  /** Another server that speaks as the provider does: `host:port`, or a URL. */
  readonly server: Text | undefined;
  readonly serverOrigin: Origin;
  /** Another port of the provider's own server. */
  readonly port: number | undefined;
  /** Where it serves the API, in the place of the provider's own path. */
  readonly path: string | undefined;
  /** Where it says that about as many tokens as a request has are taken from limits before it goes out; undefined: they are not. */
  readonly tokenize: Origin | undefined;
  readonly policies: BackendPolicies | undefined;
  readonly origin: Origin;
}

/** A model that stands for others of the front door, as a file says it. */
export interface VirtualModelConfig {
  /** What clients ask for. */
  readonly name: string;
  /** The models of the lowest priority come first; of shares there is one list. */
  readonly routing:
    | { readonly kind: "failover"; readonly tiers: readonly (readonly VirtualTarget[])[] }
    | { readonly kind: "weighted"; readonly targets: readonly WeightedTarget[] }
    | { readonly kind: "conditional"; readonly targets: readonly ConditionalTarget[] };
  readonly origin: Origin;
}

/** A model that is asked in the place of a virtual one, by the name that clients would use. */
export interface VirtualTarget {
  readonly model: string;
  readonly origin: Origin;
}

interface ConditionalTarget extends VirtualTarget {
  /** When it is asked; undefined: always. */
  readonly when: { readonly text: string; readonly origin: Origin } | undefined;
}

interface WeightedTarget extends VirtualTarget {
  readonly weight: number;
}
