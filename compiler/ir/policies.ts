import type { Origin } from "../diagnostics/diagnostic.ts";
import type { PolicyKind, PolicySettings } from "../policies/index.ts";

// Templates use these names of policies; the list of policies belongs to the compiler.
export type { PolicyKind, PolicySettings };

/** A resolved policy of a route. */
export type PolicyUse<Kind extends PolicyKind = PolicyKind> = {
  [Each in Kind]: {
    readonly kind: Each;
    readonly settings: PolicySettings[Each];
    readonly origin: Origin;
  };
}[Kind];
