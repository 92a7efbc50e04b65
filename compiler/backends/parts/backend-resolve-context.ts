import type { DestinationContext } from "./destination.ts";
import type { IdentityContext } from "./known-identities.ts";

/** Services needed to resolve a backend of a route. */
export interface BackendResolveContext extends DestinationContext, IdentityContext {}
