import { childOf, Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { WeightedBackend } from "../backends/backend-configs.ts";
import type { KubernetesModel } from "../gateway/gateways.ts";
import type { RulePath } from "../policies/effective.ts";
import type { AnyRoute } from "./attach.ts";
import { lacksParts, ruleBackends, rulesOf } from "./http-routes.ts";

/** Traffic of a rule to one backend. */
export interface SharedTraffic extends RulePath {
  /** All backends of the rule, the one of the traffic first. */
  readonly backends: readonly WeightedBackend[];
}

/** Returns the traffic of a route: each rule without mistakes, on each of its listeners, to its first backend. */
export function trafficOf(
  { attachments, context }: KubernetesModel,
  route: AnyRoute,
): readonly SharedTraffic[] {
  // Mistakes of the backends have already been reported.
  const quiet = { ...context, diagnostics: new Diagnostics() };
  return attachments
    .filter((each) => each.route === route)
    .flatMap(({ listener, via, delegations }) =>
      rulesOf(route).flatMap((rule, index): readonly SharedTraffic[] => {
        const origin = childOf(route.origin, "spec", "rules", index);
        if (rule === undefined || lacksParts(origin, route) || delegations?.has(index)) return [];
        const backends = ruleBackends({ listener, route, rule }, origin, quiet);
        return [{ listener, route, rule, index, via, backend: backends[0]?.backend, backends }];
      }),
    );
}
