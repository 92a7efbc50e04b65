import { childOf, type Origin, placeKey } from "../../../diagnostics/diagnostic.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import type { RouteRule } from "../../../manifests/routes.ts";
import { type KubernetesBackend, unresolved } from "../backends/backends.ts";
import type { KubernetesListener } from "../gateway/listeners.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { modelsBackend } from "./model-backends.ts";
import { hiddenListeners, hiddenText } from "./model-parents.ts";
import { isOfListener } from "./model-routes.ts";

/** A rule of an HTTPRoute on one listener. */
interface ListenedRule {
  readonly listener: KubernetesListener;
  readonly route: ManifestOf<"HTTPRoute">;
  readonly rule: RouteRule;
  readonly origin: Origin;
}

/**
 * Returns the backend with the models of a rule; `origin` is the location of the reference to them. Without
 * models, or with a mistake in the rule (reported), it refuses all requests.
 */
export function modelsOfRule(
  { listener, route, rule, origin: place }: ListenedRule,
  origin: Origin,
  context: PolicyContext,
): KubernetesBackend {
  const { models, diagnostics } = context;
  if (isOfListener(route))
    return modelsBackend(models.ofListeners.get(listener.resource.key) ?? [], place, context);
  const none: KubernetesBackend = {
    ...{ config: unresolved(origin), manifest: undefined, parts: new Map(), port: undefined },
    addresses: [],
  };
  const reason = mistakeOf(rule, route);
  if (reason !== undefined) {
    diagnostics.report("rule-of-models", origin, { reason, cause: "InvalidKind" });
    return none;
  }
  const hidden = hiddenListeners(rule, [listener], models);
  if (hidden.length > 0) {
    const params = { reason: hiddenText(hidden), cause: "ModelRoutingConflict" } as const;
    diagnostics.report("rule-of-models", origin, params);
    return none;
  }
  const found = models.ofRules.get(placeKey(place)) ?? [];
  if (found.length > 0) return modelsBackend(found, place, context);
  const what = "GatewayModel with this rule as a parent";
  diagnostics.report("missing-reference", childOf(origin, "name"), { what, candidates: [] });
  return none;
}

/** Returns why a rule cannot serve models; `undefined` if it can. */
function mistakeOf(
  { backendRefs = [], filters = [], ...rule }: RouteRule & { readonly matches?: readonly Match[] },
  route: ManifestOf<"HTTPRoute">,
): string | undefined {
  const [reference, second] = backendRefs;
  if (second !== undefined) return "it has other backendRefs";
  const {
    name,
    namespace = route.namespace,
    port,
    weight = 1,
    filters: own = [],
  } = reference ?? {};
  if (name !== "*") return 'the name of the backendRef must be "*"';
  if (namespace !== route.namespace) return "the backendRef names another namespace";
  if (port !== undefined || weight !== 1 || own.length > 0)
    return "the backendRef cannot have a port, a weight or filters";
  if ((rule.matches ?? []).some(({ path: { type = "PathPrefix" } = {} }) => type !== "PathPrefix"))
    return "its paths must have the type PathPrefix";
  const isOther = ({ type }: (typeof filters)[number]) =>
    type === "URLRewrite" || type === "RequestRedirect";
  return filters.some(isOther)
    ? "it cannot have the filters URLRewrite and RequestRedirect"
    : undefined;
}

interface Match {
  readonly path?: { readonly type?: string };
}
