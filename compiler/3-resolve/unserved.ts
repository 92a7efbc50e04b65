import type { BackendResolveContext } from "../backends/parts/backend-resolve-context.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import { resolveLevels } from "../config/log-levels.ts";
import type { UnservedResources } from "../config/resources.ts";
import { SectionUse } from "../config/sections.ts";
import { identities } from "../policies/index.ts";
import { resolveBackends } from "./backends.ts";
import { withoutConsequences } from "./consequences.ts";
import { namedServer, resolvePolicies, withoutRoute } from "./policies.ts";

/**
 * Checks resources that no gateway serves: reports their own mistakes, but not possible consequences of their
 * being unattached.
 */
export function checkUnserved(
  { policies, backends, logLevels }: UnservedResources,
  lookup: ConnectionContext,
): void {
  const context = withoutConsequences(
    { ...lookup, backends: new Map(), sections: new SectionUse() },
    { isPartial: true },
  );
  const destinations: BackendResolveContext = {
    ...context,
    ...withoutRoute,
    identities,
    namedServer: (name, at) => namedServer("promptGuard", name, at, context),
  };
  for (const backend of backends) {
    resolveBackends([backend], destinations, (own) => resolvePolicies(own, withoutRoute, context));
  }
  resolvePolicies(policies, withoutRoute, context);
  resolveLevels(logLevels, context.diagnostics);
}
