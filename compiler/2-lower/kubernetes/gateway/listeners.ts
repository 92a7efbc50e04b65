import { GATEWAY_GROUP, resourceKind } from "../../../1-parse/kubernetes/kinds.ts";
import { isPartial } from "../../../config/broken-parts.ts";
import type { ListenerResource, ListenerTlsResource } from "../../../config/resources.ts";
import { childOf, keyPlace, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { CertificateFiles } from "../../../ir/tls.ts";
import type {
  AttachedKind,
  ListenerSpec,
  ManifestKind,
  ManifestOf,
  NamespaceRule,
  ObjectReference,
} from "../../../manifests/manifests.ts";
import type { IdentityUse } from "../../../model/identity-use.ts";
import { readTlsVersion } from "../../standalone/frontend.ts";
import { byAge, type Lookups, resourceName } from "../inventory/inventory.ts";
import { follow, type ReferenceContext } from "../inventory/references.ts";
import { checkCertificate, mountedName } from "../inventory/secrets.ts";
import { selects } from "../inventory/selectors.ts";

/** A listener with the resources that it belongs to. */
export interface KubernetesListener {
  readonly resource: ListenerResource;
  readonly spec: ListenerSpec;
  readonly gateway: ManifestOf<"Gateway">;
  /** The Gateway itself, or the ListenerSet that declares it. */
  readonly owner: ManifestOf<"Gateway"> | ManifestOf<"ListenerSet">;
}

/** Returns the listeners of a Gateway: its own, then those of the ListenerSets that it allows. */
export function listenersOf(
  gateway: ManifestOf<"Gateway">,
  context: ReferenceContext,
): readonly KubernetesListener[] {
  const letIn = (set: ManifestOf<"ListenerSet">): boolean =>
    guarded(
      childOf(set.origin, "spec"),
      context.diagnostics,
      () => attachesTo(set, gateway) && isLetIn(set, gateway, context),
    ) === true;
  const sets = context.inventory.all("ListenerSet").toSorted(byAge).filter(letIn);
  const owners = [gateway, ...sets];
  const ports = new Map<number, Origin>();
  const { allowedListeners } = gateway.spec ?? {};
  checkRule(
    allowedListeners?.namespaces,
    childOf(gateway.origin, "spec", "allowedListeners"),
    context,
  );
  const readOwner = (owner: KubernetesListener["owner"]): readonly KubernetesListener[] => {
    checkNames(owner, context);
    return (owner.spec?.listeners ?? []).flatMap((spec, index) => {
      if (spec === undefined) return [];
      const origin = childOf(owner.origin, "spec", "listeners", index);
      if (owner.internalPorts.includes(spec.port)) {
        context.diagnostics.report("internal-port", childOf(origin, "port"), { port: spec.port });
        return [];
      }
      // Listeners of a port share it, wherever they are declared.
      const portOrigin = ports.get(spec.port) ?? childOf(origin, "port");
      ports.set(spec.port, portOrigin);
      const resource = guarded(origin, context.diagnostics, (): ListenerResource => {
        checkKinds(spec, origin, context);
        checkRule(spec.allowedRoutes?.namespaces, childOf(origin, "allowedRoutes"), context);
        return {
          key: `${owner.kind} ${owner.namespace}/${owner.name} ${spec.name}`,
          name: spec.name,
          port: spec.port,
          portOrigin,
          hostname: spec.hostname ?? "*",
          // UDP listeners have been reported and are never served.
          protocol: spec.protocol === "UDP" ? "TCP" : spec.protocol,
          tls: tlsOf(spec, owner, gateway, origin, context),
          pathHandling: undefined,
          policies: [],
          origin,
        };
      });
      return resource === undefined ? [] : [{ resource, spec, gateway, owner }];
    });
  };
  return owners.flatMap(
    (owner) =>
      guarded(childOf(owner.origin, "spec"), context.diagnostics, () => readOwner(owner)) ?? [],
  );
}

/** Returns the kinds of routes that a listener's protocol supports (Gateway API). */
function kindsOver({ protocol, tls }: ListenerSpec): readonly AttachedKind[] {
  switch (protocol) {
    case "TLS":
      // The content of terminated TLS is a plain connection.
      return tls?.mode === "Passthrough" ? ["TLSRoute"] : ["TLSRoute", "TCPRoute"];
    case "TCP":
      return ["TCPRoute"];
    case "UDP":
      return [];
    default:
      return ["HTTPRoute", "GRPCRoute", "GatewayModel"];
  }
}

/**
 * Returns the kinds of routes that a listener accepts: the ones it lists, as far as its protocol supports them; by
 * default all except GatewayModels, which take every path.
 */
export function kindsTaken(listener: ListenerSpec): readonly AttachedKind[] {
  const named = listener.allowedRoutes?.kinds ?? [];
  const all = kindsOver(listener);
  if (named.length === 0) return all.filter((kind) => kind !== "GatewayModel");
  return all.filter((kind) =>
    named.some((each) => resourceKind(each.group ?? GATEWAY_GROUP, each.kind) === kind),
  );
}

/**
 * Reports a selector that is ignored, because `from` is not Selector (Gateway API). `owner` is the location of the
 * rule's parent.
 */
function checkRule(
  rule: NamespaceRule | undefined,
  owner: Origin,
  { diagnostics }: ReferenceContext,
): void {
  if (rule?.selector === undefined || rule.from === "Selector") return;
  diagnostics.report("idle-selector", keyPlace(childOf(owner, "namespaces", "selector")), {});
}

/** Whether a rule allows a namespace; `home` is the namespace of the resource with the rule. */
export function allowsNamespace(
  rule: NamespaceRule | undefined,
  defaults: NonNullable<NamespaceRule["from"]>,
  home: string,
  namespace: string,
  inventory: Lookups,
): boolean {
  switch (rule?.from ?? defaults) {
    case "All":
      return true;
    case "None":
      return false;
    case "Same":
      return namespace === home;
    case "Selector":
      return (
        rule?.selector !== undefined && selects(rule.selector, inventory.namespaceLabels(namespace))
      );
  }
}

/** Reports ListenerSets whose Gateway does not exist or that refer to another kind. */
export function checkListenerSets(context: ReferenceContext): void {
  for (const set of context.inventory.all("ListenerSet"))
    guarded(childOf(set.origin, "spec"), context.diagnostics, () => checkParent(set, context));
}

function checkParent(set: ManifestOf<"ListenerSet">, context: ReferenceContext): void {
  const { parentRef } = set.spec ?? {};
  if (parentRef === undefined) return;
  const namespace = parentRef.namespace ?? set.namespace;
  const gateway = context.inventory.find("Gateway", namespace, parentRef.name);
  if (gateway !== undefined && namesGateway(parentRef)) return;
  const origin = childOf(set.origin, "spec", "parentRef");
  follow({ to: parentRef, from: set, origin, kinds: ["Gateway"] }, context);
}

/** Reports duplicate names, to which references would be ambiguous. */
function checkNames(owner: KubernetesListener["owner"], { diagnostics }: ReferenceContext): void {
  const seen = new Set<string>();
  owner.spec?.listeners.forEach((listener, index) => {
    if (listener === undefined) return;
    const { name } = listener;
    const at = childOf(owner.origin, "spec", "listeners", index, "name");
    const message = `${resourceName(owner)} has another listener "${name}"`;
    if (seen.has(name)) diagnostics.report("broken-rule", at, { message });
    seen.add(name);
  });
}

/** Reports route kinds that a listener lists but cannot serve. */
function checkKinds(spec: ListenerSpec, origin: Origin, { diagnostics }: ReferenceContext): void {
  const carried: readonly (ManifestKind | undefined)[] = kindsOver(spec);
  spec.allowedRoutes?.kinds?.forEach(({ group = GATEWAY_GROUP, kind }, index) => {
    if (carried.includes(resourceKind(group, kind))) return;
    const at = childOf(origin, "allowedRoutes", "kinds", index, "kind");
    const found = group === GATEWAY_GROUP ? kind : `${group}/${kind}`;
    const params = { found, protocol: spec.protocol, taken: kindsOver(spec) };
    diagnostics.report("wrong-route-kind", at, params);
  });
}

function attachesTo(
  { namespace, spec }: ManifestOf<"ListenerSet">,
  gateway: ManifestOf<"Gateway">,
): boolean {
  const { parentRef } = spec ?? {};
  return (
    parentRef?.name === gateway.name &&
    (parentRef.namespace ?? namespace) === gateway.namespace &&
    namesGateway(parentRef)
  );
}

function namesGateway({ group = GATEWAY_GROUP, kind = "Gateway" }: ObjectReference): boolean {
  return resourceKind(group, kind) === "Gateway";
}

function isLetIn(
  set: ManifestOf<"ListenerSet">,
  gateway: ManifestOf<"Gateway">,
  { inventory, diagnostics }: ReferenceContext,
): boolean {
  const rule = gateway.spec?.allowedListeners?.namespaces;
  const home = gateway.namespace;
  // A rule with a mistake is unknown, so the ListenerSet counts as allowed.
  const isKnown =
    gateway.spec !== undefined &&
    !isPartial(childOf(gateway.origin, "spec", "allowedListeners"), gateway);
  if (!isKnown || allowsNamespace(rule, "None", home, set.namespace, inventory)) return true;
  diagnostics.report("not-attached", childOf(set.origin, "spec", "parentRef"), {
    route: resourceName(set),
    parent: resourceName(gateway),
    reason: `its allowedListeners do not include the namespace "${set.namespace}"`,
    cause: "NotAllowed",
  });
  return false;
}

/** Returns TLS of a listener: its certificate, and the versions in its options. */
function tlsOf(
  spec: ListenerSpec,
  owner: KubernetesListener["owner"],
  gateway: ManifestOf<"Gateway">,
  origin: Origin,
  context: ReferenceContext,
): ListenerTlsResource | undefined {
  const { "gwc.dev/min-tls-version": min, "gwc.dev/max-tls-version": max } =
    spec.tls?.options ?? {};
  const certificate =
    identityOf(spec, origin) ?? certificateOf(spec, owner, gateway, origin, context);
  return (
    certificate && {
      certificate,
      minVersion: readTlsVersion(min),
      maxVersion: readTlsVersion(max),
    }
  );
}

/** Returns the use of the gateway's own identity as the certificate of a listener; `undefined` if it has another one. */
function identityOf({ tls }: ListenerSpec, origin: Origin): IdentityUse | undefined {
  const option = "agentgateway.dev/tls-certificate-source";
  if (tls?.options?.[option] !== "SPIFFE") return undefined;
  return { kind: "workloadApi", origin: childOf(origin, "tls", "options", option) };
}

/** Returns the mounted files of a listener's certificate. */
function certificateOf(
  { name, tls, protocol }: ListenerSpec,
  owner: KubernetesListener["owner"],
  gateway: ManifestOf<"Gateway">,
  origin: Origin,
  context: ReferenceContext,
): CertificateFiles | undefined {
  if (tls?.mode === "Passthrough") {
    if (protocol === "TLS") return undefined;
    if (protocol === "HTTPS")
      context.diagnostics.report("https-passthrough", childOf(origin, "tls", "mode"), {});
    // For the other checks, the listener counts as having a certificate.
    return { cert: "", key: "", isSecret: true };
  }
  if (tls?.certificateRefs?.[0] === undefined && protocol === "TLS") {
    context.diagnostics.report("tls-missing", childOf(origin, "protocol"), {
      listener: name,
      protocol,
    });
  }
  if (tls === undefined) return undefined;
  const place = childOf(origin, "tls", "certificateRefs");
  const [reference, second] = tls.certificateRefs ?? [];
  if (second !== undefined) {
    const what = "several certificates of a listener";
    const field = '"certificateRefs"';
    context.diagnostics.report("not-built-yet", childOf(place, 1), { what, field });
  }
  if (reference === undefined) return undefined;
  const at = childOf(place, 0);
  const secret = follow({ to: reference, from: owner, origin: at, kinds: ["Secret"] }, context);
  const files = (folder: string): CertificateFiles => ({
    cert: `${folder}/tls.crt`,
    key: `${folder}/tls.key`,
    isSecret: true,
  });
  // A missing Secret has been reported. For the other checks, the listener counts as having a certificate.
  if (secret?.spec === undefined) return files(reference.name);
  const what = resourceName(secret);
  const folder = mountedName(secret, gateway, at, context);
  for (const key of ["tls.crt", "tls.key"]) {
    if (secret.spec.isComplete && !secret.spec.keys.includes(key))
      context.diagnostics.report("missing-key", at, { what, key });
  }
  checkCertificate(secret, secret.spec, at, context);
  return files(folder);
}
