import { GATEWAY_GROUP, resourceKind } from "../1-parse/kubernetes/kinds.ts";
import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import type { AnyRoute } from "../2-lower/kubernetes/routes/attach.ts";
import type { AttachedKind, ManifestOf } from "../manifests/manifests.ts";
import type { ParentReference } from "../manifests/routes.ts";
import { CONTROLLER, type Condition, conditionFrom, type Problem, within } from "./conditions.ts";

/** Returns the status of a GatewayModel for each of its parents. */
export function modelStatus(
  model: ManifestOf<"GatewayModel">,
  problems: readonly Problem[],
  kubernetes: KubernetesModel,
): object | undefined {
  const errors = problems.filter(({ isError }) => isError);
  const ofParents = within(errors, "spec", "parentRefs");
  const others = errors.filter((each) => !ofParents.includes(each));
  const resolved = conditionFrom("ResolvedRefs", "ResolvedRefs", ["Invalid", others]);
  return statusByParent(model, kubernetes, (index) => [
    acceptedBy(within(ofParents, "spec", "parentRefs", index), []),
    resolved,
  ]);
}

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
  return statusByParent(route, kubernetes, (index) => [
    acceptedBy(within(ofParents, "spec", "parentRefs", index), others),
    resolved,
  ]);
}

/** Returns conditions for each parent that this controller manages; `undefined` if there is none. */
function statusByParent(
  route: ManifestOf<AttachedKind>,
  kubernetes: KubernetesModel,
  conditionsOf: (index: number) => readonly Condition[],
): object | undefined {
  const parents = (route.spec?.parentRefs ?? []).flatMap((parentRef, index) =>
    parentRef === undefined || isForeign(parentRef, route, kubernetes)
      ? []
      : [{ parentRef, controllerName: CONTROLLER, conditions: conditionsOf(index) }],
  );
  return parents.length === 0 ? undefined : { parents };
}

/**
 * Whether a parent is not managed by this controller, which writes entries only for parents that it owns (Gateway API). A
 * parent that does not exist is foreign.
 */
function isForeign(
  { group = GATEWAY_GROUP, name, namespace, kind = "Gateway" }: ParentReference,
  route: ManifestOf<AttachedKind>,
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
  for (const { code, cause } of problems) {
    if (code === "rule-of-models" && cause !== undefined) return cause;
    if (code === "reference-not-permitted") return "RefNotPermitted";
    if (code === "wrong-reference-kind") return "InvalidKind";
    if (code === "not-built-yet") return "UnsupportedValue";
  }
  return "BackendNotFound";
}
