import { GATEWAY_GROUP, resourceKind } from "../1-parse/kubernetes/kinds.ts";
import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import type { AnyRoute } from "../2-lower/kubernetes/routes/attach.ts";
import type { ParentReference } from "../manifests/routes.ts";
import { CONTROLLER, type Condition, conditionFrom, type Problem, within } from "./conditions.ts";

/** Returns the status of a route for each of its parents. */
export function routeStatus(
  route: AnyRoute,
  problems: readonly Problem[],
  kubernetes: KubernetesModel,
): object | undefined {
  const errors = problems.filter(({ isError }) => isError);
  // An invalid weight does not make a reference unresolved.
  const references = errors.filter(
    ({ path }) =>
      (path.includes("backendRefs") && path.at(-1) !== "weight") ||
      (path.includes("requestMirror") && path.includes("backendRef")),
  );
  const ofParents = within(errors, "spec", "parentRefs");
  const others = errors.filter((each) => !references.includes(each) && !ofParents.includes(each));
  const cause = [referenceReason(references), references] as const;
  const resolved = conditionFrom("ResolvedRefs", "ResolvedRefs", cause);
  const parents = (route.spec?.parentRefs ?? []).flatMap((parentRef, index) => {
    if (parentRef === undefined || isForeign(parentRef, route, kubernetes)) return [];
    const own = within(ofParents, "spec", "parentRefs", index);
    const conditions = [acceptedBy(own, others), resolved];
    return [{ parentRef, controllerName: CONTROLLER, conditions }];
  });
  return parents.length === 0 ? undefined : { parents };
}

/**
 * Whether a parent is not managed by this controller, which writes entries only for parents that it owns (Gateway API). A
 * parent that does not exist is foreign.
 */
function isForeign(
  { group = GATEWAY_GROUP, name, namespace, kind = "Gateway" }: ParentReference,
  route: AnyRoute,
  kubernetes: KubernetesModel,
): boolean {
  const { inventory, gateways, attachments } = kubernetes;
  const place = namespace ?? route.namespace;
  switch (resourceKind(group, kind)) {
    case "Gateway": {
      const gateway = inventory.find("Gateway", place, name);
      return !gateways.some(({ manifest }) => manifest === gateway);
    }
    case "ListenerSet": {
      const set = inventory.find("ListenerSet", place, name);
      const parent = set?.spec?.parentRef;
      // An invalid ListenerSet, whose parent is unknown, counts as managed.
      if (parent === undefined) return set === undefined;
      return isForeign({ ...parent, namespace: parent.namespace ?? place }, route, kubernetes);
    }
    case "HTTPRoute": {
      const parent = inventory.find("HTTPRoute", place, name);
      return parent !== undefined && !attachments.some((each) => each.route === parent);
    }
    default:
      return true;
  }
}

function acceptedBy(own: readonly Problem[], others: readonly Problem[]): Condition {
  const cause = own.find((each) => each.cause !== undefined)?.cause;
  return conditionFrom(
    "Accepted",
    "Accepted",
    [cause ?? "NoMatchingParent", own],
    ["UnsupportedValue", others],
  );
}

function referenceReason(problems: readonly Problem[]): string {
  for (const { code } of problems) {
    if (code === "reference-not-permitted") return "RefNotPermitted";
    if (code === "wrong-reference-kind") return "InvalidKind";
    if (code === "not-built-yet") return "UnsupportedValue";
  }
  return "BackendNotFound";
}
