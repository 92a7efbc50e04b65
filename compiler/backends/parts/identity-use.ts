import { type Diagnostics, keyPlace } from "../../diagnostics/diagnostic.ts";
import type { IdentityUse } from "../../model/identity-use.ts";

/** Services needed to check uses of the gateway's own identity. */
export interface IdentityUseContext {
  readonly diagnostics: Diagnostics;
  /** Whether the gateway has a source of its identity; absent if that is unknown. */
  readonly hasIdentity?: boolean;
}

/** Reports a use of the gateway's own identity without a source of it. */
export function checkIdentityUse(
  { origin }: IdentityUse,
  { diagnostics, hasIdentity = true }: IdentityUseContext,
): void {
  if (hasIdentity) return;
  const isManifest = origin.resource !== undefined;
  diagnostics.report("spiffe-without-source", keyPlace(origin), { isManifest });
}
