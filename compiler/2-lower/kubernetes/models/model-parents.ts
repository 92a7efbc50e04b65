import { resourceKind } from "../../../1-parse/kubernetes/kinds.ts";
import { isPartial } from "../../../config/broken-parts.ts";
import { childOf, type Origin, placeKey } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { ManifestOf } from "../../../manifests/manifests.ts";
import type { ParentReference, RouteRule } from "../../../manifests/routes.ts";
import type { KubernetesListener } from "../gateway/listeners.ts";
import { byAge, resourceName } from "../inventory/inventory.ts";
import { groupOf, type ReferenceContext, reportMissing } from "../inventory/references.ts";
import { type Attachment, attachTo } from "../routes/attach.ts";
import type { ModelManifest, ModelTables } from "./model-tables.ts";

/** Attaches the models to listeners and rules; reports parents that do not allow them. */
export function attachModels(
  listeners: ReadonlyMap<string, readonly KubernetesListener[]>,
  attachments: readonly Attachment[],
  context: ReferenceContext,
): ModelTables {
  const models = context.inventory.all("GatewayModel").toSorted(byAge);
  const ofListeners = new Map<string, ModelManifest[]>();
  const gateways = new Map<ModelManifest, Set<ManifestOf<"Gateway">>>();
  const addGateway = (model: ModelManifest, { gateway }: KubernetesListener): void => {
    gateways.set(model, new Set([...(gateways.get(model) ?? []), gateway]));
  };
  forEachParent(models, context, (model, reference, at) => {
    if (isOfRoute(reference)) return;
    for (const { listener } of attachTo(model, reference, at, listeners, context)) {
      add(ofListeners, listener.resource.key, model);
      addGateway(model, listener);
    }
  });
  const ofRules = new Map<string, ModelManifest[]>();
  const tables: ModelTables = { ofListeners, ofRules, gateways };
  forEachParent(models, context, (model, reference, at) => {
    if (!isOfRoute(reference)) return;
    const rule = ruleOf(model, reference, at, { attachments, tables }, context);
    if (rule === undefined) return;
    add(ofRules, rule.key, model);
    for (const listener of rule.listeners) addGateway(model, listener);
  });
  return tables;
}

/** Whether a reference is to the GatewayModels of a rule. */
export function isOfModels({
  group = "",
  kind = "Service",
}: NonNullable<NonNullable<RouteRule["backendRefs"]>[number]>): boolean {
  return resourceKind(group, kind) === "GatewayModel";
}

/** Returns the listeners whose own models a rule for models would hide, because both serve every path. */
export function hiddenListeners(
  rule: Pick<RouteRule, "backendRefs"> & { readonly matches?: readonly PathMatch[] },
  listeners: readonly KubernetesListener[],
  { ofListeners }: ModelTables,
): readonly KubernetesListener[] {
  const { matches = [{}] } = rule;
  const isOfAll = matches.some(
    ({ path: { type = "PathPrefix", value = "/" } = {} }) => type === "PathPrefix" && value === "/",
  );
  return isOfAll
    ? listeners.filter(({ resource }) => ofListeners.get(resource.key) !== undefined)
    : [];
}

interface PathMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
}

/** Explains that a rule for models and models of the same listener exclude each other. */
export function hiddenText(listeners: readonly KubernetesListener[]): string {
  const names = listeners.map(({ spec, owner }) => `"${spec.name}" of ${resourceName(owner)}`);
  return `it matches every path, and the listener ${names.join(", ")} has models of its own`;
}

function forEachParent(
  models: readonly ModelManifest[],
  { diagnostics }: ReferenceContext,
  work: (model: ModelManifest, reference: ParentReference, at: Origin) => void,
): void {
  for (const model of models)
    guarded(childOf(model.origin, "spec"), diagnostics, () => {
      const place = childOf(model.origin, "spec", "parentRefs");
      model.spec?.parentRefs.forEach((reference, index) => {
        if (reference !== undefined) work(model, reference, childOf(place, index));
      });
    });
}

function isOfRoute({ group = groupOf("Gateway"), kind = "Gateway" }: ParentReference): boolean {
  return resourceKind(group, kind) === "HTTPRoute";
}

/** Returns the rule of an HTTPRoute that serves a model; `undefined` if it does not (reported). */
function ruleOf(
  model: ModelManifest,
  { name, namespace = model.namespace, sectionName }: ParentReference,
  at: Origin,
  served: { readonly attachments: readonly Attachment[]; readonly tables: ModelTables },
  context: ReferenceContext,
): { readonly key: string; readonly listeners: readonly KubernetesListener[] } | undefined {
  const route = context.inventory.find("HTTPRoute", namespace, name);
  if (route === undefined) {
    reportMissing({ kind: "HTTPRoute", namespace, name, origin: at }, context);
    return undefined;
  }
  const refuse = (reason: string) => {
    const params = { route: resourceName(model), parent: resourceName(route), reason };
    context.diagnostics.report("not-attached", at, { ...params, cause: "NoMatchingParent" });
    return undefined;
  };
  if (namespace !== model.namespace) return refuse("it is of another namespace");
  const rules = route.spec?.rules ?? [];
  const isUnknown = route.spec === undefined || isPartial(childOf(route.origin, "spec"), route);
  const index =
    sectionName === undefined ? 0 : rules.findIndex((rule) => rule?.name === sectionName);
  const rule = rules[index];
  if (rule === undefined && isUnknown) return undefined;
  if (sectionName === undefined && rules.length > 1)
    return refuse("it has several rules, so `sectionName` must name one of them");
  if (rule === undefined) return refuse(`it has no rule "${sectionName}"`);
  if (!(rule.backendRefs ?? []).some((each) => each !== undefined && isOfModels(each)))
    return refuse(
      `its rule has no backendRef { group: ${groupOf("GatewayModel")}, kind: GatewayModel, name: "*" }`,
    );
  const listeners = served.attachments.flatMap((each) =>
    each.route === route ? [each.listener] : [],
  );
  const hidden = hiddenListeners(rule, listeners, served.tables);
  if (hidden.length > 0) return refuse(hiddenText(hidden));
  return { key: placeKey(childOf(route.origin, "spec", "rules", index)), listeners };
}

function add(map: Map<string, ModelManifest[]>, key: string, model: ModelManifest): void {
  const found = map.get(key) ?? [];
  if (!found.includes(model)) map.set(key, [...found, model]);
}
