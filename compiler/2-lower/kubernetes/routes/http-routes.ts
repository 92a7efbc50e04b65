import { isPartial } from "../../../config/broken-parts.ts";
import type { MatchConfig, RouteAttachment, RouteResource } from "../../../config/resources.ts";
import { acts, backendTraffic, reportIdle, weightSection } from "../../../config/sections.ts";
import { childOf, type Origin, type Place } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import type {
  GrpcRouteMatch,
  HttpRouteMatch,
  HttpValueMatch,
  RouteRule,
} from "../../../manifests/routes.ts";
import type { ValueMatchConfig } from "../../../model/matches.ts";
import { delegatedMatches } from "../../standalone/route-groups.ts";
import { backendConfigs, type WeightedBackend } from "../backends/backend-configs.ts";
import {
  type KubernetesBackend,
  type RouteReference,
  referencedBackend,
} from "../backends/backends.ts";
import { serverOf } from "../backends/servers.ts";
import type { KubernetesListener } from "../gateway/listeners.ts";
import { resourceName } from "../inventory/inventory.ts";
import { isOfModels } from "../models/model-parents.ts";
import { modelsOfRule } from "../models/rule-of-models.ts";
import type { RulePath } from "../policies/effective.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { rulePolicies } from "../policies/rule-policies.ts";
import type { AnyRoute, Attachment, DelegatingRule } from "./attach.ts";
import { backendHeaders, checkFilters } from "./route-filters.ts";

/** Returns the rules of an HTTPRoute or GRPCRoute on one of its listeners, in the vocabulary of standalone files. */
export function routeResources(
  attachment: Attachment,
  route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  context: PolicyContext,
): readonly RouteResource[] {
  const { listener, hostnames, via, delegations } = attachment;
  const rules = rulesOf(route);
  const way = wayTo(via);
  return rules.flatMap((rule, index): readonly RouteResource[] => {
    if (rule === undefined) return [];
    const origin = childOf(route.origin, "spec", "rules", index);
    const matches =
      delegations?.get(index) ??
      guarded(origin, context.diagnostics, () => matchesOn(attachment, route, index)) ??
      [];
    // None of the delegated requests match this rule.
    if (via !== undefined && matches.length === 0) return [];
    const same: EmptyRoute = {
      kind: "route",
      ...ruleNames(route, rules, index),
      listeners: [attachmentOf(listener, hostnames)],
      matches,
      ...(way.length > 0 && { way }),
      origin,
      policies: [],
      backends: [],
    };
    const served = guarded(origin, context.diagnostics, () =>
      delegations?.has(index) === true
        ? delegatingRoute(same, attachment, rule, context)
        : servedRoute(same, { ...attachment, route }, { rule, index }, context),
    );
    // If reading fails, the rule stays with its matches but without backends: its requests must not reach another
    // rule.
    return [served ?? same];
  });
}

/** A rule before its policies and backends are read. */
type EmptyRoute = RouteResource & { readonly origin: Place };

/** Returns a delegating rule, which answers 404 to requests that none of its routes serves. */
function delegatingRoute(
  same: EmptyRoute,
  { route, via }: Attachment,
  rule: RouteRule,
  { diagnostics }: PolicyContext,
): RouteResource {
  checkFilters("a rule", rule, same.origin, diagnostics);
  const isPartial = isWayPartial(via, route) || lacksParts(same.origin, route);
  return { ...same, isPartial, refusal: "notFound" };
}

/** Returns a rule with its policies and backends. */
function servedRoute(
  same: EmptyRoute,
  { listener, route, via }: Attachment,
  { rule, index }: Pick<RulePath, "rule" | "index">,
  context: PolicyContext,
): RouteResource {
  const { origin } = same;
  const backends = ruleBackends({ listener, route, rule }, origin, context);
  const traffic = { listener, route, rule, index, via, backend: backends[0]?.backend };
  checkFilters("a rule", rule, origin, context.diagnostics);
  const { policies, hasResponse } = rulePolicies(traffic, backends, context);
  return {
    ...same,
    policies,
    isPartial: isWayPartial(via, route) || isPartialRule(traffic, origin, backends, context),
    backends: hasResponse ? [] : backendConfigs(traffic, backends, policies, context),
    // Gateway API: without backends, and without a filter that responds, every request gets 500.
    ...(isWithoutBackends(rule) && { refusal: "noBackend" as const }),
  };
}

/** Whether parts are missing from a rule that delegates to the route. */
function isWayPartial(via: DelegatingRule | undefined, route: AnyRoute): boolean {
  const routes = wayRoutes(via);
  return wayTo(via).some((each, step) => lacksParts(each, routes[step] ?? route));
}

/** Returns the locations of the rules that delegate to a route, outermost first. */
function wayTo(via: DelegatingRule | undefined): readonly Origin[] {
  if (via === undefined) return [];
  const { from, route, index } = via;
  return [...wayTo(from.via), childOf(route.origin, "spec", "rules", index)];
}

/** Returns the routes of the rules that delegate, outermost first. */
function wayRoutes(via: DelegatingRule | undefined): readonly AnyRoute[] {
  return via === undefined ? [] : [...wayRoutes(via.from.via), via.route];
}

/** Returns the requests that reach a rule: those that it matches, among the ones delegated to it. */
export function matchesOn(
  { via }: Attachment,
  route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  index: number,
): readonly MatchConfig[] {
  const own = matchesOf(route, index, childOf(route.origin, "spec", "rules", index, "matches"));
  return via === undefined ? own : delegatedMatches(via.matches, own);
}

function isWithoutBackends({ backendRefs = [] }: RouteRule): boolean {
  return backendRefs.length === 0;
}

/**
 * Whether the rule, a backend, or a policy that could apply to the rule, has mistakes (reported). Without a match
 * or a filter it would let more requests through, so the rest of it is checked but serves nothing.
 */
export function isPartialRule(
  { route }: RulePath,
  origin: Origin,
  backends: readonly WeightedBackend[],
  { inventory }: PolicyContext,
): boolean {
  return (
    lacksParts(origin, route) ||
    backends.some(({ backend }) => backend.manifest?.isPartial !== false) ||
    inventory.isPartial("GatewayPolicy")
  );
}

/** Whether parts with mistakes are missing from a rule, or from its route's listeners or hostnames. */
export function lacksParts(rule: Origin, route: AnyRoute): boolean {
  return isPartial(rule, route) || isPartial(childOf(route.origin, "spec"), route, ["rules"]);
}

/**
 * Returns the name of a rule in logs and its candidates in generated code: from its route, and from the rule if
 * there are several.
 */
export function ruleNames(
  { namespace, name }: AnyRoute,
  rules: readonly (RouteRule | undefined)[],
  index: number,
): { readonly name: string; readonly ids: readonly string[] } {
  if (rules.length === 1)
    return { name: `${namespace}/${name}`, ids: [name, `${namespace}-${name}`] };
  const own = rules[index]?.name ?? index;
  return {
    name: `${namespace}/${name}/${own}`,
    ids: [`${name}-${own}`, `${namespace}-${name}-${own}`],
  };
}

/** Returns a route's attachment to its listener, with the route's own hostnames. */
export function attachmentOf(
  { resource }: KubernetesListener,
  hostnames: readonly string[],
): RouteAttachment {
  return { listener: resource.key, hostnames: hostnames.includes("*") ? [] : hostnames };
}

/**
 * Returns the rules of a route, `undefined` for those with mistakes. A route without rules matches everything and
 * serves nothing.
 */
export function rulesOf({ spec }: AnyRoute): readonly (RouteRule | undefined)[] {
  return spec?.rules ?? [{}];
}

/** Returns the backends of a rule. */
export function ruleBackends(
  { listener, route, rule }: Pick<RulePath, "listener" | "route" | "rule">,
  origin: Origin,
  context: PolicyContext,
): readonly WeightedBackend[] {
  const { backendRefs = [] } = rule;
  const { gateway } = listener;
  const server: RouteReference["server"] = (reference, from, at) =>
    serverOf({ reference, from, gateway, origin: at }, context);
  const place = childOf(origin, "backendRefs");
  return backendRefs.flatMap((reference, index): readonly WeightedBackend[] => {
    if (reference === undefined) return [];
    const at = childOf(place, index);
    const { weight = 1 } = reference;
    const backend =
      route.kind === "HTTPRoute" && isOfModels(reference)
        ? modelsOfRule({ listener, route, rule, origin }, at, context)
        : referencedBackend({ reference, from: route, origin: at, server }, context);
    if (weight !== 1) checkWeight(backend, childOf(at, "weight"), context);
    if (route.kind === "GRPCRoute") checkGrpc(backend, childOf(at, "name"), context);
    checkFilters("a backend", reference, at, context.diagnostics);
    return [{ backend, weight, origin: at, headers: backendHeaders(reference, at) }];
  });
}

/** Reports a weight on a backend that cannot share requests. */
function checkWeight(
  { config, manifest }: KubernetesBackend,
  origin: Origin,
  { diagnostics }: PolicyContext,
): void {
  const section = weightSection(origin);
  const carried = backendTraffic(config);
  if (manifest?.spec !== undefined && !acts(section.actsOn, carried))
    reportIdle({ section, carried }, diagnostics);
}

/** Reports gRPC routes to backends with another protocol, which cannot handle the calls. */
function checkGrpc(
  { config, manifest }: KubernetesBackend,
  origin: Origin,
  { diagnostics }: PolicyContext,
): void {
  if (manifest?.spec === undefined || acts(["forwards"], backendTraffic(config))) return;
  diagnostics.report("backend-without-grpc", origin, { backend: resourceName(manifest) });
}

/** Returns the matches of a rule; without conditions, every request of its kind of route. */
function matchesOf(
  route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  index: number,
  origin: Origin,
): readonly MatchConfig[] {
  if (route.kind === "GRPCRoute")
    return (route.spec?.rules?.[index]?.matches ?? [{}]).map((match, position) =>
      readCall(match, childOf(origin, position)),
    );
  return (route.spec?.rules?.[index]?.matches ?? [{}]).map((match, position) =>
    readMatch(match, childOf(origin, position)),
  );
}

/** Returns the match of a gRPC call, a POST to `/service/method` (gRPC's PROTOCOL-HTTP2). */
function readCall({ method = {}, headers = [] }: GrpcRouteMatch, origin: Origin): MatchConfig {
  return {
    path: callPath(method),
    method: "POST",
    headers: readHeaders(headers, origin),
    query: [],
    origin,
  };
}

/** Returns the path of a method's calls; an unspecified service or method matches any segment. */
function callPath({
  type,
  service,
  method,
}: NonNullable<GrpcRouteMatch["method"]>): MatchConfig["path"] {
  if (type !== "RegularExpression" && service !== undefined)
    return method === undefined
      ? { kind: "prefix", value: `/${service}` }
      : { kind: "exact", value: `/${service}/${method}` };
  if (service === undefined && method === undefined) return { kind: "prefix", value: "/" };
  const [first, second] = [service, method].map((each) =>
    each === undefined ? "[^/]+" : `(?:${each})`,
  );
  const parts = [service, method].filter((each) => each !== undefined);
  return { kind: "regex", value: `/${first}/${second}`, parts };
}

function readMatch(match: HttpRouteMatch, origin: Origin): MatchConfig {
  const { type = "PathPrefix", value = "/" } = match.path ?? {};
  const kinds = { Exact: "exact", PathPrefix: "prefix", RegularExpression: "regex" } as const;
  return {
    path: { kind: kinds[type], value },
    method: match.method,
    headers: readHeaders(match.headers ?? [], origin),
    query: (match.queryParams ?? []).map((each, index) =>
      readValue(each, childOf(origin, "queryParams", index)),
    ),
    origin,
  };
}

function readHeaders(headers: readonly HttpValueMatch[], origin: Origin): MatchConfig["headers"] {
  return headers.map((each, index) =>
    readValue({ ...each, name: each.name.toLowerCase() }, childOf(origin, "headers", index)),
  );
}

function readValue({ type, name, value }: HttpValueMatch, origin: Origin): ValueMatchConfig {
  const kind = type === "RegularExpression" ? "regex" : "exact";
  return { name, kind, value, origin: childOf(origin, "value") };
}
