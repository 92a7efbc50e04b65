import type { RouteResource, TcpRouteResource } from "../../../config/resources.ts";
import type { Origin } from "../../../diagnostics/diagnostic.ts";

/** A rule of a route as it is on one listener. */
export interface ListenedRule<Rule extends RouteResource | TcpRouteResource> {
  readonly resource: Rule;
  /** The listener's name. */
  readonly listener: string;
}

/**
 * A rule that is the same on several listeners, once: most routes stand on HTTP and HTTPS alike. Where policies of the
 * listeners make them differ, each is called after its listener.
 */
export function sharedRoutes<Rule extends RouteResource | TcpRouteResource>(
  rules: readonly ListenedRule<Rule>[],
): readonly Rule[] {
  const byRule = Map.groupBy(rules, ({ resource }) => originKey(resource.origin));
  return [...byRule.values()].flatMap((same) => {
    const [only] = same;
    if (same.length === 1 && only !== undefined) return [only.resource];
    const variants = [...Map.groupBy(same, ({ resource }) => contentKey(resource)).values()];
    return variants.flatMap((variant) => merged(variant, variants.length === 1));
  });
}

/** The rule on all of the listeners, which have it alike. */
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

/** What a rule does, as text. */
function contentKey(rule: RouteResource | TcpRouteResource): string {
  const matches = rule.kind === "route" ? rule.matches : [];
  return JSON.stringify([matches, rule.policies, rule.backends], (_, value: unknown) =>
    value instanceof Map ? [...value] : value,
  );
}
