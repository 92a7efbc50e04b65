import { resourceKind } from "../1-parse/kubernetes/kinds.ts";
import type { KubernetesModel } from "../2-lower/kubernetes/gateway/gateways.ts";
import { groupOf, isGranted } from "../2-lower/kubernetes/inventory/references.ts";
import { customOf } from "../backends/ai/manifest-models.ts";
import type { Manifest, ManifestOf } from "../manifests/manifests.ts";
import { CONTROLLER, type Condition, conditionFrom, type Problem, within } from "./conditions.ts";

/**
 * Returns the status of an InferencePool for each Gateway with a route to it, or a model of it (Gateway API inference extension); `undefined`
 * if no Gateway of this controller has one.
 */
export function poolStatus(
  pool: ManifestOf<"InferencePool">,
  problems: readonly Problem[],
  kubernetes: KubernetesModel,
): object | undefined {
  const errors = problems.filter(({ isError }) => isError);
  const pickers = ["endpointPickerRef", "extensionRef"].flatMap((field) =>
    within(errors, "spec", field),
  );
  const others = errors.filter((each) => !pickers.includes(each));
  const cause = ["InvalidExtensionRef", pickers] as const;
  const resolved = conditionFrom("ResolvedRefs", "ResolvedRefs", cause);
  const parents = [...gatewaysOf(pool, kubernetes)].map(([gateway, isAttached]) => ({
    parentRef: {
      ...{ group: groupOf("Gateway"), kind: "Gateway" },
      ...{ namespace: gateway.namespace, name: gateway.name },
    },
    controllerName: CONTROLLER,
    conditions: [acceptedBy(isAttached, others), resolved],
  }));
  return parents.length === 0 ? undefined : { parents };
}

function acceptedBy(isAttached: boolean, errors: readonly Problem[]): Condition {
  if (isAttached || errors.length > 0)
    return conditionFrom("Accepted", "Accepted", ["Invalid", errors]);
  const message = "no route to this pool is attached to the Gateway";
  return { type: "Accepted", status: "False", reason: "HTTPRouteNotAccepted", message };
}

/** Returns the Gateways that routes to a pool name as parents, and whether such a route is attached. */
function gatewaysOf(
  pool: ManifestOf<"InferencePool">,
  { inventory, attachments, gateways, context }: KubernetesModel,
): ReadonlyMap<Manifest, boolean> {
  const models = inventory.all("GatewayModel").filter((model) => isModelOf(model, pool));
  const found = new Map<Manifest, boolean>(
    models.flatMap((model) =>
      [...(context.models.gateways.get(model) ?? [])].map((gateway) => [gateway, true] as const),
    ),
  );
  for (const route of [...inventory.all("HTTPRoute"), ...inventory.all("GRPCRoute")]) {
    const isNear = route.namespace === pool.namespace || isGranted(route, pool, inventory);
    if (!(isNear && leadsTo(route, pool)) && !leadsToBackendOf(route, pool, context)) continue;
    for (const { name, namespace = route.namespace, kind = "Gateway" } of parentsOf(route)) {
      const named = kind === "Gateway" ? inventory.find("Gateway", namespace, name) : undefined;
      const own = gateways.find(({ manifest }) => manifest === named)?.manifest;
      if (own !== undefined) found.set(own, found.get(own) ?? false);
    }
    for (const { route: attached, listener } of attachments)
      if (attached === route) found.set(listener.gateway, true);
  }
  return found;
}

function parentsOf({ spec }: ManifestOf<"HTTPRoute" | "GRPCRoute">) {
  return (spec?.parentRefs ?? []).filter((each) => each !== undefined);
}

/** Whether a model is served by the servers of a pool. */
function isModelOf(
  { spec, namespace }: ManifestOf<"GatewayModel">,
  pool: ManifestOf<"InferencePool">,
): boolean {
  const reference = spec && customOf(spec)?.backendRef;
  if (reference === undefined || namespace !== pool.namespace) return false;
  const { group = "", kind = "Service", name } = reference;
  return name === pool.name && resourceKind(group, kind) === "InferencePool";
}

/** Whether a route leads to a GatewayBackend that has a provider behind a pool. */
function leadsToBackendOf(
  route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  pool: ManifestOf<"InferencePool">,
  { backends }: KubernetesModel["context"],
): boolean {
  const all = [...backends.entries()].filter(([, { parts }]) =>
    [...parts.values()].some(({ service }) => service?.service === pool),
  );
  return all.some(([manifest]) => leadsTo(route, manifest));
}

function leadsTo(
  { spec, namespace: own }: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  to: Manifest,
): boolean {
  return (spec?.rules ?? []).some((rule) =>
    (rule?.backendRefs ?? []).some((each) => {
      if (each === undefined || each.name !== to.name) return false;
      const { group = "", kind = "Service", namespace = own } = each;
      return namespace === to.namespace && resourceKind(group, kind) === to.kind;
    }),
  );
}
