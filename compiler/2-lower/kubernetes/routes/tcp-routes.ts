import type { TcpRouteResource } from "../../../config/resources.ts";
import { childOf } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import { backendConfigs } from "../backends/backend-configs.ts";
import type { RulePath } from "../policies/effective.ts";
import { routePolicies } from "../policies/policies.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { Attachment } from "./attach.ts";
import { attachmentOf, isPartialRule, ruleBackends, ruleNames, rulesOf } from "./http-routes.ts";

/** Returns the rules of a TCPRoute or TLSRoute on one of its listeners, in the vocabulary of standalone files. */
export function tcpRouteResources(
  { listener, route, hostnames }: Attachment,
  context: PolicyContext,
): readonly TcpRouteResource[] {
  const rules = rulesOf(route);
  return rules.flatMap((rule, index): readonly TcpRouteResource[] => {
    if (rule === undefined) return [];
    const origin = childOf(route.origin, "spec", "rules", index);
    const same: TcpRouteResource = {
      kind: "tcpRoute",
      ...ruleNames(route, rules, index),
      listeners: [attachmentOf(listener, hostnames)],
      policies: [],
      backends: [],
      origin,
    };
    const served = guarded(origin, context.diagnostics, (): TcpRouteResource => {
      const backends = ruleBackends({ listener, route, rule }, origin, context);
      const traffic: RulePath = { listener, route, rule, index, backend: backends[0]?.backend };
      const { policies } = routePolicies(traffic, context);
      return {
        ...same,
        isPartial: isPartialRule(traffic, origin, backends, context),
        policies,
        backends: backendConfigs(traffic, backends, policies, context),
      };
    });
    // If reading fails, the rule stays without backends: its connections must not reach another rule.
    return [served ?? same];
  });
}
