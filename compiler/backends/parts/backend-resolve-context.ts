import type { ModelPrices } from "../../model/model-prices.ts";
import type { SharedStore } from "../../model/shared-store.ts";
import type { DestinationContext } from "./destination.ts";
import type { IdentityContext } from "./known-identities.ts";

/** Services needed to resolve a backend of a route. */
export interface BackendResolveContext extends DestinationContext, IdentityContext {
  /** Prices of models; `undefined` if the configuration has none. */
  readonly modelPrices?: ModelPrices | undefined;
  /** Usage of models that is stored; `undefined` if none is. */
  readonly usage?: { readonly isForCallers: boolean } | undefined;
  /** Whether the gateway has a store that replicas share. */
  readonly sharedStore: SharedStore;
}
