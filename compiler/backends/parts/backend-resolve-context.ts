import type { DestinationContext } from "./destination.ts";
import type { IdentityContext } from "./known-identities.ts";

/** What resolving a backend of a route needs. */
export interface BackendResolveContext extends DestinationContext, IdentityContext {}
