import type { ConnectionContext } from "../backends/parts/connection.ts";
import { resolveLevels } from "../config/log-levels.ts";
import type { UnservedResources } from "../config/resources.ts";
import { resolveBackends } from "./backends.ts";
import { withoutConsequences } from "./consequences.ts";
import { resolvePolicies, withoutRoute } from "./policies.ts";

/** Reads what nothing serves: its own mistakes are told, not what may follow from where it stands. */
export function checkUnserved(
  { policies, backends, logLevels }: UnservedResources,
  lookup: ConnectionContext,
): void {
  const context = withoutConsequences({ ...lookup, backends: new Map() }, { isPartial: true });
  for (const backend of backends) resolveBackends([backend], context);
  resolvePolicies(policies, withoutRoute, context);
  resolveLevels(logLevels, context.diagnostics);
}
