import { GATEWAY_GROUP, resourceKind } from "../../../1-parse/kubernetes/kinds.ts";
import { isPartial } from "../../../config/broken-parts.ts";
import { intersectHostnames } from "../../../config/hostnames.ts";
import type { MatchConfig, RouteResource } from "../../../config/resources.ts";
import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import type { ParentReference, RouteRule } from "../../../manifests/routes.ts";
import { openMatches } from "../../standalone/route-groups.ts";
import { resourceName } from "../inventory/inventory.ts";
import { type ReferenceContext, reportMissing } from "../inventory/references.ts";
import type { AnyRoute, Attachment, DelegatingRule } from "./attach.ts";
import { matchesOn, rulesOf } from "./http-routes.ts";
import type { ListenedRule } from "./shared-routes.ts";

type HttpRoute = ManifestOf<"HTTPRoute">;
type RuleReference = NonNullable<NonNullable<RouteRule["backendRefs"]>[number]>;

/**
 * Adds the attachments of routes that rules delegate to. A backendRef to HTTPRoutes selects one by name, those
 * with a label (`team=shop`), or all of a namespace (`*`): routes without parents, and those that list the
 * delegating route as a parent.
 */
export function withDelegated(
  attachments: readonly Attachment[],
  context: ReferenceContext,
): readonly Attachment[] {
  return attachments.flatMap((each) => {
    const at = childOf(each.route.origin, "spec");
    return guarded(at, context.diagnostics, () => expanded(each, context)) ?? [each];
  });
}

function expanded(attachment: Attachment, context: ReferenceContext): readonly Attachment[] {
  const { route } = attachment;
  if (route.kind !== "HTTPRoute") return [attachment];
  const delegations = new Map<number, readonly MatchConfig[]>();
  const children: Attachment[] = [];
  rulesOf(route).forEach((rule, index) => {
    const position = (rule?.backendRefs ?? []).findIndex(isOfRoutes);
    const reference = rule?.backendRefs?.[position];
    if (rule === undefined || reference === undefined) return;
    const origin = childOf(route.origin, "spec", "rules", index);
    const matches = matchesOn(attachment, route, index);
    delegations.set(index, matches);
    if (reportUndelegable(rule, matches, origin, context)) return;
    const at = childOf(origin, "backendRefs", position);
    const via: DelegatingRule = { from: attachment, route, rule, index, matches };
    for (const child of meantBy(reference, via, at, context)) {
      const hostnames = commonNames(attachment.hostnames, child);
      if (hostnames.length === 0) {
        reportApart(child, route, "their host names do not overlap", context);
        continue;
      }
      const { listener } = attachment;
      children.push(...expanded({ route: child, listener, hostnames, via }, context));
    }
  });
  return delegations.size === 0 ? [attachment] : [{ ...attachment, delegations }, ...children];
}

/** Whether a reference is to routes. */
function isOfRoutes(reference: RuleReference | undefined): boolean {
  const { group = "", kind = "Service" } = reference ?? {};
  return resourceKind(group, kind) === "HTTPRoute";
}

/** Reports parts that a delegating rule cannot have, and returns whether it has any. */
function reportUndelegable(
  { backendRefs = [] }: RouteRule,
  matches: readonly MatchConfig[],
  origin: Origin,
  { diagnostics }: ReferenceContext,
): boolean {
  const [first, second] = backendRefs;
  const { weight = 1, filters, port } = first ?? {};
  // API servers add the default weight to every reference.
  const hasMore = weight !== 1 || filters !== undefined || port !== undefined;
  if (second !== undefined || hasMore)
    diagnostics.report("group-beside-others", childOf(origin, "backendRefs"), {});
  const patterns = matches.filter(({ path }) => path.kind === "regex");
  for (const match of patterns) {
    const what = "patterns in rules that delegate to routes";
    const at = keyPlace(childOf(match.origin, "path"));
    diagnostics.report("not-built-yet", at, { what, field: '"RegularExpression"' });
  }
  return second !== undefined || hasMore || patterns.length > 0;
}

/** Returns the routes that a reference selects, of those that allow it. */
function meantBy(
  { name, namespace }: RuleReference,
  via: DelegatingRule,
  origin: Origin,
  context: ReferenceContext,
): readonly HttpRoute[] {
  const { inventory, diagnostics } = context;
  const home = namespace ?? via.route.namespace;
  const [label, value] = name.split("=");
  if (name !== "*" && value === undefined) {
    const found = inventory.find("HTTPRoute", home, name);
    if (found === undefined) {
      reportMissing({ kind: "HTTPRoute", namespace: home, name, origin }, context);
      return [];
    }
    const way = wayOf(via).map(resourceName);
    if (wayOf(via).includes(found)) {
      const circle = { way: [...way, resourceName(found)] };
      diagnostics.report("group-circle", childOf(origin, "name"), circle);
      return [];
    }
    if (mayBeMeant(found, via.route)) return [found];
    // With mistakes in its parentRefs, it may allow it.
    if (found.isPartial) return [];
    reportApart(found, via.route, "its parentRefs do not name it", context);
    return [];
  }
  const here =
    value === undefined
      ? inventory.inNamespace("HTTPRoute", home)
      : inventory.withLabels("HTTPRoute", home, { [label ?? ""]: value });
  const found = here.filter((each) => !wayOf(via).includes(each) && mayBeMeant(each, via.route));
  if (found.length === 0) {
    const what = `HTTPRoute of the namespace "${home}" that may be delegated to`;
    diagnostics.report("selector-without-match", childOf(origin, "name"), { what });
  }
  return found;
}

/** Returns the routes that lead to a rule, outermost first, ending with its own. */
function wayOf({ from, route }: DelegatingRule): readonly AnyRoute[] {
  return [...(from.via === undefined ? [] : wayOf(from.via)), route];
}

/** Whether a route allows another one to delegate to it; `false` if mistakes hide this. */
function mayBeMeant(child: HttpRoute, parent: HttpRoute): boolean {
  if (child.spec === undefined || isPartial(childOf(child.origin, "spec", "parentRefs"), child))
    return false;
  const { parentRefs = [] } = child.spec;
  return (
    parentRefs.length === 0 ||
    parentRefs.some((each) => each !== undefined && isParent(each, child, parent))
  );
}

/** Whether a route lists another one as its parent. */
function isParent(reference: ParentReference, child: AnyRoute, parent: AnyRoute): boolean {
  return (
    namesRoute(reference) &&
    reference.name === parent.name &&
    (reference.namespace ?? child.namespace) === parent.namespace
  );
}

/** Whether a parent is a route. */
function namesRoute({ group = GATEWAY_GROUP, kind = "Gateway" }: ParentReference): boolean {
  return resourceKind(group, kind) === "HTTPRoute";
}

/** Returns the hostnames common to both; those of the delegating route if the route has none. */
function commonNames(outer: readonly string[], { spec }: HttpRoute): readonly string[] {
  const own = (spec?.hostnames ?? []).filter((name) => name !== undefined);
  if (own.length === 0) return outer;
  return own.flatMap((name) => outer.flatMap((each) => intersectHostnames(name, each) ?? []));
}

function reportApart(
  child: HttpRoute,
  parent: HttpRoute,
  reason: string,
  { diagnostics }: ReferenceContext,
): void {
  const params = { route: resourceName(child), parent: resourceName(parent), reason };
  const at = childOf(child.origin, "spec", "hostnames");
  diagnostics.report("not-attached", at, { ...params, cause: "NoMatchingParent" });
}

/** Reports routes without parents that no rule delegates to, and parents that do not delegate. */
export function reportUndelegated(
  attachments: readonly Attachment[],
  context: ReferenceContext,
): void {
  const parents = new Map<AnyRoute, Set<AnyRoute>>();
  for (const { route, via } of attachments) {
    const known = parents.get(route) ?? new Set();
    if (via !== undefined) known.add(via.route);
    parents.set(route, known);
  }
  for (const route of context.inventory.all("HTTPRoute")) {
    const at = childOf(route.origin, "spec");
    guarded(at, context.diagnostics, () =>
      reportUndelegatedRoute(route, parents, attachments, context),
    );
  }
}

function reportUndelegatedRoute(
  route: HttpRoute,
  parents: ReadonlyMap<AnyRoute, ReadonlySet<AnyRoute>>,
  attachments: readonly Attachment[],
  context: ReferenceContext,
): void {
  const place = childOf(route.origin, "spec", "parentRefs");
  if (route.spec === undefined || isPartial(place, route)) return;
  const { parentRefs = [] } = route.spec;
  const title = resourceName(route);
  reportIdleRules(route, attachments, context);
  if (parentRefs.length === 0 && !parents.has(route)) {
    const reason = "it has no parentRefs, and no route delegates to it";
    const at = childOf(route.origin, "spec");
    const params = { route: title, parent: "any Gateway", reason };
    context.diagnostics.report("not-attached", at, { ...params, cause: "NoMatchingParent" });
  }
  parentRefs.forEach((each, index) => {
    if (each === undefined || !namesRoute(each)) return;
    const delegates = [...(parents.get(route) ?? [])].some((one) => isParent(each, route, one));
    if (delegates) return;
    const parent = `HTTPRoute "${each.namespace ?? route.namespace}/${each.name}"`;
    const params = { route: title, parent, reason: "it does not delegate to this route" };
    const at = childOf(place, index);
    context.diagnostics.report("not-attached", at, { ...params, cause: "NoMatchingParent" });
  });
}

/** Reports rules that none of the delegated requests can match. */
function reportIdleRules(
  route: HttpRoute,
  attachments: readonly Attachment[],
  { diagnostics }: ReferenceContext,
): void {
  const own = attachments.filter((each) => each.route === route);
  const [first] = own.flatMap(({ via }) => via ?? []);
  if (first === undefined) return;
  rulesOf(route).forEach((rule, index) => {
    if (rule === undefined || own.some((each) => matchesOn(each, route, index).length > 0)) return;
    const group = resourceName(first.route);
    const at = childOf(route.origin, "spec", "rules", index);
    diagnostics.report("undelegated-route", at, { group });
  });
}

/** Returns delegating rules with only the requests that none of their routes serves, which get 404. */
export function withoutDelegated(
  rules: readonly ListenedRule<RouteResource>[],
): readonly ListenedRule<RouteResource>[] {
  const delegated = rules.flatMap(({ resource }) => resource.matches);
  return rules.flatMap((rule): readonly ListenedRule<RouteResource>[] => {
    const { resource } = rule;
    if (resource.refusal !== "notFound") return [rule];
    const matches = openMatches(resource.matches, delegated);
    return matches.length === 0 ? [] : [{ ...rule, resource: { ...resource, matches } }];
  });
}
