import type { SectionUse } from "../../../config/sections.ts";
import type { Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { BackendReference } from "../../../manifests/routes.ts";
import type { ServerConfig } from "../../../model/server-policies.ts";
import type { BackendContext } from "../backends/backends.ts";
import type { ModelTables } from "../models/model-tables.ts";
import type { FieldValue } from "./merge.ts";

/** Values of GatewayPolicies by target (`targetKey`). */
export type PolicyIndex = Pick<ReadonlyMap<string, readonly FieldValue[]>, "get" | "values">;

/** Services needed to read policies, and the facts collected about them. */
export interface PolicyContext extends BackendContext {
  readonly policyIndex: PolicyIndex;
  /** GatewayModels by where they are served. */
  readonly models: ModelTables;
  /** Records which values have an effect. */
  readonly sections: SectionUse;
  /** Resources with an effective value, and the Gateways for which it is. */
  readonly effective: Map<Manifest, Set<Manifest>>;
  /** Secrets that each Gateway's pods mount, by the Gateway's `NAMESPACE/NAME`. */
  readonly secrets: Map<string, Set<string>>;
  /** ConfigMaps that each Gateway's pods mount, by the same key. */
  readonly configMaps: Map<string, Set<string>>;
  /** Mistakes that have been reported, as text: one message for all routes. */
  readonly reported: Set<string>;
  /**
   * Returns the server of a token endpoint, without credentials for it, which its clients have themselves; `undefined` if
   * it is unknown (reported).
   */
  readonly tokenServer: (use: ServerUse) => ServerConfig | undefined;
}

/** A policy's reference to a server that the gateway itself calls. */
export interface ServerUse {
  readonly reference: BackendReference;
  /** The resource with the reference. */
  readonly from: Manifest;
  /** The Gateway whose pods call the server. */
  readonly gateway: Manifest;
  readonly origin: Origin;
}
