import type { ListenerResource } from "../../config/resources.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { PolicyConfig } from "../../policies/index.ts";

/** What policies of the file say of something that has policies of its own, which count more. */
export interface Attached {
  readonly policies: readonly PolicyConfig[];
  /** How backends are reached; undefined: nothing is said of it. */
  readonly backendPolicies: BackendPolicies | undefined;
}

/** A listener, as a target says which is meant. */
export type NamedListener = Pick<ListenerResource, "name" | "port">;

/** The file's `policies`, by what they are about. */
export interface PoliciesByTarget {
  /** Some have mistakes (reported): what they are about is not as it was meant. */
  readonly isPartial: boolean;
  /** What holds for the routes of a listener. */
  onRoutes(listener: NamedListener): Attached;
  /** What holds before a route is chosen. */
  before(listener: NamedListener): readonly PolicyConfig[];
  /** What holds for the routes with a name. */
  onRoute(name: string | undefined): Attached;
}
