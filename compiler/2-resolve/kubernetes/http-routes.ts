import { below, type Origin } from "../../diagnostics.ts";
import type { HttpRouteMatch, HttpRouteRule, HttpValueMatch, ManifestOf } from "../../manifests.ts";
import type { MatchConfig, RouteResource, ValueMatchConfig } from "../../resources.ts";
import type { Attachment } from "./attach.ts";
import { backendConfigs, type WeightedBackend } from "./backend-configs.ts";
import { backendOf } from "./backends.ts";
import type { Traffic } from "./effective.ts";
import { type PolicyContext, routePolicies } from "./policies.ts";

/** The rules of an HTTPRoute on one of its listeners, as the standalone file would have them. */
export function routeResources(
  { listener, hostnames }: Attachment,
  route: ManifestOf<"HTTPRoute">,
  context: PolicyContext,
): readonly RouteResource[] {
  const rules = rulesOf(route);
  return rules.map((rule, index) => {
    const origin = below(route.origin, "spec", "rules", index);
    const backends = ruleBackends(route, rule, origin, context);
    const traffic: Traffic = { listener, route, rule, index, backend: backends[0]?.backend };
    checkFilters(rule, origin, context);
    const { policies, isAnswered } = routePolicies(traffic, context);
    const own = rules.length === 1 ? "" : `-${rule.name ?? index}`;
    return {
      kind: "route",
      name: `${route.namespace}/${route.name}${own === "" ? "" : `/${own.slice(1)}`}`,
      ids: [`${route.name}${own}`, `${route.namespace}-${route.name}${own}`],
      listeners: [
        { listener: listener.resource.key, hostnames: hostnames.includes("*") ? [] : hostnames },
      ],
      matches: (rule.matches ?? [{}]).map((match, position) =>
        readMatch(match, below(origin, "matches", position)),
      ),
      policies,
      backends: isAnswered ? [] : backendConfigs(traffic, backends, context),
      origin,
    };
  });
}

/** A filter that stands twice (Gateway API: only mirrors may). */
function checkFilters(
  { filters = [] }: HttpRouteRule,
  origin: Origin,
  { diagnostics }: PolicyContext,
): void {
  const seen = new Set<unknown>();
  filters.forEach(({ type }, index) => {
    const at = below(origin, "filters", index, "type");
    if (seen.has(type) && type !== "RequestMirror") {
      const message = `a rule has one filter of type ${String(type)}`;
      diagnostics.report("broken-rule", at, { message });
    }
    seen.add(type);
  });
}

/** The rules of a route; without any it matches everything, and answers nothing. */
export function rulesOf({ spec }: ManifestOf<"HTTPRoute">): readonly HttpRouteRule[] {
  return spec?.rules ?? [{}];
}

/** The backends of a rule. */
export function ruleBackends(
  route: ManifestOf<"HTTPRoute">,
  { backendRefs = [] }: HttpRouteRule,
  origin: Origin,
  context: PolicyContext,
): readonly WeightedBackend[] {
  const place = below(origin, "backendRefs");
  return backendRefs.map((reference, index) => ({
    backend: backendOf(reference, route, below(place, index), context),
    weight: reference.weight ?? 1,
  }));
}

function readMatch(match: HttpRouteMatch, origin: Origin): MatchConfig {
  const { type = "PathPrefix", value = "/" } = match.path ?? {};
  const kind = ({ Exact: "exact", PathPrefix: "prefix" } as const)[type] ?? "regex";
  return {
    path: { kind, value },
    method: match.method,
    headers: (match.headers ?? []).map((each, index) =>
      readValue({ ...each, name: each.name.toLowerCase() }, below(origin, "headers", index)),
    ),
    query: (match.queryParams ?? []).map((each, index) =>
      readValue(each, below(origin, "queryParams", index)),
    ),
    origin,
  };
}

function readValue({ type, name, value }: HttpValueMatch, origin: Origin): ValueMatchConfig {
  const kind = type === "RegularExpression" ? "regex" : "exact";
  return { name, kind, value, origin: below(origin, "value") };
}
