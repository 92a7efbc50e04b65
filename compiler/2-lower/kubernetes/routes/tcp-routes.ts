import type { TcpRouteResource } from "../../../config/resources.ts";
import { childOf, keyPlace } from "../../../diagnostics/diagnostic.ts";
import { backendConfigs } from "../backends/backend-configs.ts";
import type { KubernetesBackend } from "../backends/backends.ts";
import type { RulePath } from "../policies/effective.ts";
import { routePolicies } from "../policies/policies.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { Attachment } from "./attach.ts";
import { attachmentOf, isPartialRule, ruleBackends, ruleNames, rulesOf } from "./http-routes.ts";

/** The rules of a TCPRoute or TLSRoute on one of its listeners, as the standalone file would have them. */
export function tcpRouteResources(
  { listener, route, hostnames }: Attachment,
  context: PolicyContext,
): readonly TcpRouteResource[] {
  const rules = rulesOf(route);
  return rules.map((rule, index) => {
    const origin = childOf(route.origin, "spec", "rules", index);
    const backends = ruleBackends(route, rule, origin, context);
    const traffic: RulePath = { listener, route, rule, index, backend: backends[0]?.backend };
    for (const { backend } of backends) reportMisplaced(backend, context);
    return {
      kind: "tcpRoute",
      ...ruleNames(route, rules, index),
      listeners: [attachmentOf(listener, hostnames)],
      isPartial: isPartialRule(backends, context),
      policies: routePolicies(traffic, context).policies,
      backends: backendConfigs(traffic, backends, context),
      origin,
    };
  });
}

/** What a backend says of itself that acts on requests, which it does not get here. */
function reportMisplaced({ manifest }: KubernetesBackend, { diagnostics }: PolicyContext): void {
  if (manifest?.kind !== "GatewayBackend") return;
  for (const name of Object.keys(manifest.spec?.policies ?? {})) {
    if (name === "tcp" || name === "tls") continue;
    const at = keyPlace(childOf(manifest.origin, "spec", "policies", name));
    const actsOn = name === "mcp" ? "MCP messages" : "HTTP requests";
    diagnostics.report("misplaced-field", at, { field: `"${name}"`, actsOn });
  }
}
