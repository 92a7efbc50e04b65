import type { BackendResolveContext } from "../backends/parts/backend-resolve-context.ts";
import type { ConnectionContext } from "../backends/parts/connection.ts";
import { resolveLevels } from "../config/log-levels.ts";
import type { UnservedResources } from "../config/resources.ts";
import { SectionUse } from "../config/sections.ts";
import { identities } from "../policies/index.ts";
import { resolveBackends } from "./backends.ts";
import { CachedChecks } from "./cached-resolutions.ts";
import { withoutConsequences } from "./consequences.ts";
import type { ListenerContext } from "./listeners.ts";
import { resolvePolicies, withoutRoute } from "./policies.ts";

/**
 * Checks resources that no gateway serves: reports their own mistakes, but not possible consequences of their
 * being unattached.
 */
export function checkUnserved(
  { policies, backends, logLevels }: UnservedResources,
  lookup: ConnectionContext,
  cache: CachedChecks = new CachedChecks(),
): void {
  const context: ListenerContext = withoutConsequences(
    { ...lookup, backends: new Map(), sections: new SectionUse(), sharedStore: "unknown" },
    { isPartial: true },
  );
  for (const backend of backends)
    cache.of(backend, context, (own) =>
      resolveBackends([backend], destinationsOf(own), (ofBackend) =>
        resolvePolicies(ofBackend, withoutRoute, own),
      ),
    );
  for (const policy of policies)
    cache.of(policy, context, (own) => resolvePolicies([policy], withoutRoute, own));
  resolveLevels(logLevels, context.diagnostics);
}

function destinationsOf(context: ListenerContext): BackendResolveContext {
  return {
    ...context,
    ...withoutRoute,
    identities,
    user: "promptGuard",
  };
}
