import { below, Diagnostics } from "../../diagnostics.ts";
import type { AnyRoute } from "./attach.ts";
import type { Traffic } from "./effective.ts";
import type { Cluster } from "./gateways.ts";
import { ruleBackends, rulesOf } from "./http-routes.ts";

/** The traffic of a route: each of its rules on each of its listeners. */
export function trafficOf({ attachments, context }: Cluster, route: AnyRoute): readonly Traffic[] {
  // What is wrong with the backends has been reported already.
  const quiet = { ...context, diagnostics: new Diagnostics() };
  return attachments
    .filter((each) => each.route === route)
    .flatMap(({ listener }) =>
      rulesOf(route).map((rule, index): Traffic => {
        const origin = below(route.origin, "spec", "rules", index);
        const [first] = ruleBackends(route, rule, origin, quiet);
        return { listener, route, rule, index, backend: first?.backend };
      }),
    );
}
