import type { CachedByObjects } from "../../../cached-results.ts";
import type { RouteResource, TcpRouteResource } from "../../../config/resources.ts";
import type { Origin } from "../../../diagnostics/diagnostic.ts";

/** A rule of a route on one listener. */
export interface ListenedRule<Rule extends RouteResource | TcpRouteResource> {
  readonly resource: Rule;
  /** Name of the listener. */
  readonly listener: string;
}

/**
 * Merges rules that are the same on several listeners, because most routes serve HTTP and HTTPS alike. If policies
 * of the listeners make them differ, each variant is named after a listener. Unchanged rules are merged into the same
 * object as before, whose resolution is cached.
 */
export function sharedRoutes<Rule extends RouteResource | TcpRouteResource>(
  rules: readonly ListenedRule<Rule>[],
  cache: CachedByObjects<object, readonly Rule[]>,
): readonly Rule[] {
  const byRule = Map.groupBy(rules, ({ resource }) => originKey(resource.origin));
  return [...byRule.values()].flatMap((same) => {
    const [only] = same;
    if (same.length === 1 && only !== undefined) return [only.resource];
    const name = JSON.stringify(same.map(({ listener }) => listener));
    return cache.of(
      same.map(({ resource }) => resource),
      name,
      () => variantsOf(same),
    );
  });
}

function variantsOf<Rule extends RouteResource | TcpRouteResource>(
  same: readonly ListenedRule<Rule>[],
): readonly Rule[] {
  const variants = [...Map.groupBy(same, ({ resource }) => contentKey(resource)).values()];
  return variants.flatMap((variant) => merged(variant, variants.length === 1));
}

/** Merges equal rules of several listeners into one. */
function merged<Rule extends RouteResource | TcpRouteResource>(
  variant: readonly ListenedRule<Rule>[],
  isOnly: boolean,
): readonly Rule[] {
  const [first] = variant;
  if (first === undefined) return [];
  const { resource, listener } = first;
  const listeners = variant.flatMap((each) => each.resource.listeners);
  const ids = resource.ids?.map((id) => (isOnly ? id : `${id}-${listener}`));
  return [{ ...resource, listeners, ...(ids === undefined ? {} : { ids }) }];
}

function originKey({ file, document, path }: Origin): string {
  return `${file} ${document} ${path.join("/")}`;
}

/** Serializes the behavior of a rule for comparison. */
function contentKey(rule: RouteResource | TcpRouteResource): string {
  const matches = rule.kind === "route" ? rule.matches : [];
  return JSON.stringify([matches, rule.policies, rule.backends], (_, value: unknown) =>
    value instanceof Map ? [...value] : value,
  );
}
