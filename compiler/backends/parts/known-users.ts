import { keyPlace } from "../../diagnostics/diagnostic.ts";
import type { BackendConnection } from "../../model/connections.ts";
import { absentIdentities, type IdentityContext, optionalIdentities } from "./known-identities.ts";

/** Reports connections of users on a route whose callers may be unknown. Returns whether there are none. */
export function haveUsers(
  connections: readonly BackendConnection[],
  context: IdentityContext,
): boolean {
  const uses = connections.flatMap(({ userConnection }) => userConnection ?? []);
  const missing = [...absentIdentities(["jwt"], context), ...optionalIdentities(["jwt"], context)];
  for (const { origin } of uses)
    for (const { policies } of missing)
      context.diagnostics.report("connection-without-user", keyPlace(origin), {
        field: "oauth",
        policies,
      });
  return uses.length === 0 || missing.length === 0;
}
