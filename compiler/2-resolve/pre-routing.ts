import { keyOf } from "../diagnostics.ts";
import type { PreRoutingNode } from "../ir.ts";
import type { ListenerResource, RouteResource } from "../resources.ts";
import type { Names } from "./names.ts";
import { answersAll, type PolicyPlace, reachedPolicies, resolvePolicies } from "./policies.ts";
import type { RouteContext } from "./routes.ts";

/** What happens to a listener's requests before their route is chosen; undefined: nothing. */
export function resolvePreRouting(
  listener: ListenerResource,
  routes: readonly RouteResource[],
  listenerNames: Names,
  context: RouteContext,
): PreRoutingNode | undefined {
  const [first] = listener.policies;
  if (first === undefined) return undefined;
  const { policies, answer } = reachedPolicies(listener.policies, [], context);
  const place: PolicyPlace = {
    phase: "PreRouting",
    route: {
      isMcp: routes.some(({ backends }) => backends.some(({ kind }) => kind === "mcp")),
      policies: policies.map(({ kind }) => kind),
      prefixes: undefined,
    },
  };
  return {
    id: context.names.take(`${listener.name} policies`),
    tableId: listenerNames.take(`${listener.name} routes`),
    policies: resolvePolicies(policies, place, context),
    isFinal: answer !== undefined,
    origin: listener.origin,
  };
}

/** The routes that a listener's requests can reach: none behind a policy that answers all of them (reported). */
export function reachedRoutes(
  { policies }: ListenerResource,
  routes: readonly RouteResource[],
  { diagnostics }: RouteContext,
): readonly RouteResource[] {
  const answer = policies.find(answersAll);
  if (answer === undefined) return routes;
  for (const { name, origin } of routes) {
    const what = name === undefined ? "this route" : `the route "${name}"`;
    diagnostics.report("never-reached", keyOf(origin), { what, by: answer.kind });
  }
  return [];
}
