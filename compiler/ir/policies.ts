import type { Origin } from "../diagnostics/diagnostic.ts";
import type { PolicyKind, PolicySettings } from "../policies/index.ts";

// Templates know policies by these names; the list of policies is the compiler's.
export type { PolicyKind, PolicySettings };

/** A policy of a route, resolved. */
export type PolicyUse<Kind extends PolicyKind = PolicyKind> = {
  [Each in Kind]: {
    readonly kind: Each;
    readonly settings: PolicySettings[Each];
    readonly origin: Origin;
  };
}[Kind];
