import type { ListenerResource, RouteResource } from "../config/resources.ts";
import { keyPlace } from "../diagnostics/diagnostic.ts";
import type { PreRoutingNode } from "../ir/program.ts";
import { identityFields, passesAnonymous, respondsToAll } from "../policies/index.ts";
import { asksModels, modelNamesOf, protocolOf, spendsTokens } from "./backends.ts";
import { withoutConsequences } from "./consequences.ts";
import { checkCredentials } from "./credential-conflicts.ts";
import { effectivePolicies, type PolicyPlace, resolvePolicies } from "./policies.ts";
import { providedBefore } from "./provided-values.ts";
import { inRequestOrder } from "./request-order.ts";
import type { RouteContext } from "./routes.ts";

/** Resolves the policies of a listener that run before a route is chosen; returns `undefined` if it has none. */
export function resolvePreRouting(
  listener: ListenerResource,
  routes: readonly { readonly route: RouteResource }[],
  whole: RouteContext,
): PreRoutingNode | undefined {
  const context = withoutConsequences(whole, listener);
  const [first] = listener.policies;
  if (first === undefined) return undefined;
  const kinds = routes.flatMap(({ route }) => route.policies.map(({ kind }) => kind));
  const other = { name: "route", kinds } as const;
  const ordered = inRequestOrder(listener.policies, other, context.diagnostics);
  const { policies, response } = effectivePolicies(ordered, [], context);
  checkCredentials(policies, [], context.diagnostics);
  const backends = routes.flatMap(({ route }) => route.backends);
  const isKnown = routes.every(({ route }) => route.isPartial !== true);
  const place: PolicyPlace = {
    phase: "PreRouting",
    route: {
      protocol: protocolOf(backends.slice(0, 1)),
      asksModels: isKnown ? asksModels(backends) : undefined,
      spendsTokens: isKnown ? spendsTokens(backends) : undefined,
      policies: policies.map(({ kind }) => kind),
      preRouting: [],
      optional: policies.filter(passesAnonymous).map(({ kind }) => kind),
      identityFields: [
        ...policies.flatMap((policy) => identityFields(policy) ?? []),
        ...providedBefore([], context),
      ],
      itemTargets: undefined,
      modelNames: isKnown ? modelNamesOf(backends) : undefined,
      prefixes: undefined,
    },
  };
  return {
    id: context.names.take(`${listener.name} policies`),
    policies: resolvePolicies(policies, place, context),
    isFinal: response !== undefined,
    origin: listener.origin,
  };
}

/**
 * Returns the routes that a listener's requests can reach: none behind a policy that responds to all requests
 * (reported).
 */
export function effectiveRoutes<Attached extends { readonly route: RouteResource }>(
  { policies }: ListenerResource,
  routes: readonly Attached[],
  { diagnostics }: RouteContext,
): readonly Attached[] {
  const response = policies.find(respondsToAll);
  if (response === undefined) return routes;
  for (const {
    route: { name, origin },
  } of routes) {
    const what = name === undefined ? "this route" : `the route "${name}"`;
    diagnostics.report("never-reached", keyPlace(origin), { what, by: response.kind });
  }
  return [];
}
