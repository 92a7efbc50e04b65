import type { ListenerResource, RouteAttachment } from "../../config/resources.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { PolicyConfig } from "../../policies/index.ts";

/** Policies attached to something that can have its own policies, which override them. */
export interface Attached {
  readonly policies: readonly PolicyConfig[];
  /** Connection policies of backends; `undefined` if none. */
  readonly backendPolicies: BackendPolicies | undefined;
}

/** The listeners of a route, and the policies that it inherits. */
export interface RoutePlacement extends Attached {
  readonly listeners: readonly RouteAttachment[];
  /** Whether the client's TLS is forwarded to the backends. */
  readonly isPassedOn: boolean;
}

/** Returns the name of a route in logs: with that of its rule, if it has one. */
export function fullName({
  name,
  ruleName,
}: {
  readonly name?: string | undefined;
  readonly ruleName?: string | undefined;
}): string | undefined {
  return name === undefined || ruleName === undefined ? (name ?? ruleName) : `${name}/${ruleName}`;
}

/** A listener, as far as targets identify it. */
export type NamedListener = Pick<ListenerResource, "key" | "name" | "port">;

/** The `policies` of a file, by target. */
export interface PoliciesByTarget {
  /** Whether some have mistakes (reported), so that their targets are uncertain. */
  readonly isPartial: boolean;
  /** Returns the policies for the routes of a listener. */
  onRoutes(listener: NamedListener): Attached;
  /** Returns the policies that run before a route is chosen. */
  before(listener: NamedListener): readonly PolicyConfig[];
  /** Returns the policies for the routes with a name, and with a name of their rule. */
  onRoute(name: string | undefined, ruleName?: string): Attached;
}
