import type { CachedByObject } from "../../../cached-results.ts";
import type { RouteResource, TcpRouteResource } from "../../../config/resources.ts";
import type { Diagnostics, Origin } from "../../../diagnostics/diagnostic.ts";

/**
 * Maximum characters of what the rules of a namespace at one Gateway do. A policy counts for each rule that it applies
 * to, because each rule has its own code.
 */
const MAX_SIZE = 8_000_000;

/**
 * Closes the rules of a namespace that exceed its share of a Gateway's code, and reports them; `rules` are in their
 * order of precedence. Otherwise one tenant could fill the memory of everybody's data planes.
 */
export function withinBounds<Rule extends RouteResource | TcpRouteResource>(
  rules: readonly Rule[],
  sizes: CachedByObject<object, number>,
  diagnostics: Diagnostics,
): readonly Rule[] {
  const used = new Map<string, number>();
  return rules.map((rule) => {
    const namespace = namespaceOf(rule.origin);
    const size = (used.get(namespace) ?? 0) + sizes.of(rule, () => sizeOf(rule));
    used.set(namespace, size);
    if (size <= MAX_SIZE) return rule;
    diagnostics.report("namespace-too-large", rule.origin, { namespace, size: MAX_SIZE });
    return { ...rule, policies: [], backends: [], isPartial: true };
  });
}

/** Returns the characters of a rule, without policies of other namespaces. */
function sizeOf(rule: RouteResource | TcpRouteResource): number {
  const namespace = namespaceOf(rule.origin);
  const policies = rule.policies.filter(({ origin }) => namespaceOf(origin) === namespace);
  const matches = rule.kind === "route" ? rule.matches : [];
  const counted = [matches, policies, rule.backends];
  return JSON.stringify(counted, (name, value: unknown) => {
    if (name === "origin") return undefined;
    return value instanceof Map ? [...value] : value;
  }).length;
}

/** Returns the namespace of an object's part. */
function namespaceOf({ resource }: Origin): string {
  return /^\S+ ([^/]*)\//.exec(resource?.name ?? "")?.[1] ?? "";
}
