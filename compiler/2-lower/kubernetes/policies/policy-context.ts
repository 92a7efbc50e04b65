import type { SectionUse } from "../../../config/sections.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { BackendContext } from "../backends/backends.ts";
import type { FieldValue } from "./merge.ts";

/** What GatewayPolicies say, by what they target: the key of `targetKey`. */
export type PolicyIndex = ReadonlyMap<string, readonly FieldValue[]>;

/** What reading policies needs, and what it finds out about them. */
export interface PolicyContext extends BackendContext {
  readonly policyIndex: PolicyIndex;
  /** Which values act. */
  readonly sections: SectionUse;
  /** The resources one of whose values counts somewhere, and for which Gateways. */
  readonly effective: Map<Manifest, Set<Manifest>>;
  /** The Secrets that each Gateway's pods mount, by the Gateway's `NAMESPACE/NAME`. */
  readonly secrets: Map<string, Set<string>>;
  /** The ConfigMaps that they mount. */
  readonly configMaps: Map<string, Set<string>>;
  /** Conflicts that have been reported: one message for each pair of values. */
  readonly conflicts: Set<string>;
}
