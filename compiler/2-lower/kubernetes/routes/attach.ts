import { resourceKind } from "../../../1-parse/kubernetes/kinds.ts";
import { isPartial } from "../../../config/broken-parts.ts";
import { intersectHostnames } from "../../../config/hostnames.ts";
import type { MatchConfig } from "../../../config/resources.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { MessageParams } from "../../../diagnostics/messages/index.ts";
import type { Manifest, ManifestOf, RouteKind } from "../../../manifests/manifests.ts";
import type { ParentReference, RouteRule } from "../../../manifests/routes.ts";
import { allowsNamespace, type KubernetesListener, kindsTaken } from "../gateway/listeners.ts";
import { type Inventory, resourceName } from "../inventory/inventory.ts";
import { follow, groupOf, type ReferenceContext } from "../inventory/references.ts";

/** A route of any kind. */
export type AnyRoute = ManifestOf<RouteKind>;

/** A route on one of its listeners. */
export interface Attachment {
  readonly route: AnyRoute;
  readonly listener: KubernetesListener;
  /** Those of the route's host names that the listener has any of; `*` for every one. */
  readonly hostnames: readonly string[];
  /** The rule that hands it its requests; absent: it is attached to the listener itself. */
  readonly via?: DelegatingRule;
  /** What comes to those of its rules that hand requests to other routes, by their index. */
  readonly delegations?: ReadonlyMap<number, readonly MatchConfig[]>;
}

/** A rule that hands its requests to other routes. */
export interface DelegatingRule {
  readonly from: Attachment;
  readonly route: ManifestOf<"HTTPRoute">;
  readonly rule: RouteRule;
  readonly index: number;
  /** What comes to it. */
  readonly matches: readonly MatchConfig[];
}

/** The routes' kinds. */
export const ROUTE_KINDS: readonly RouteKind[] = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"];

/** Attaches a route to the listeners that its parentRefs name; those that let it in nowhere are reported. */
export function attach(
  route: AnyRoute,
  listeners: ReadonlyMap<string, readonly KubernetesListener[]>,
  context: ReferenceContext,
): readonly Attachment[] {
  const { spec } = route;
  if (spec === undefined) return [];
  const place = childOf(route.origin, "spec", "parentRefs");
  const found = (spec.parentRefs ?? []).flatMap((reference, index) =>
    reference === undefined
      ? []
      : attachTo(route, reference, childOf(place, index), listeners, context),
  );
  // An HTTPRoute may be one that another one delegates to.
  const mayBeDelegatedTo = route.kind === "HTTPRoute";
  if ((spec.parentRefs ?? []).length === 0 && !mayBeDelegatedTo && !isPartial(place, route)) {
    context.diagnostics.report("not-attached", childOf(route.origin, "spec"), {
      route: resourceName(route),
      parent: "any Gateway",
      reason: "it has no parentRefs",
      cause: "NoMatchingParent",
    });
  }
  // Two references may lead to the same listener.
  const seen = new Set<string>();
  return found.filter(({ listener: { resource } }) => {
    if (seen.has(resource.key)) return false;
    seen.add(resource.key);
    return true;
  });
}

/**
 * The attachments, oldest first, without those of routes that have a host name with an older one of the other kind of
 * requests on their listener: a host name serves HTTP or gRPC (Gateway API GRPCRoute).
 */
export function withoutConflicts(
  attachments: readonly Attachment[],
  { diagnostics }: ReferenceContext,
): readonly Attachment[] {
  const accepted = new Map<KubernetesListener, Map<string, Attachment[]>>();
  return attachments.filter((attachment) => {
    const { route, listener } = attachment;
    if (isStream(route)) return true;
    const older = accepted.get(listener) ?? new Map<string, Attachment[]>();
    accepted.set(listener, older);
    const rivals = [...older].flatMap(([kind, each]) => (kind === route.kind ? [] : each));
    const rival = rivals.find((each) => shareName(each, attachment));
    if (rival === undefined) {
      const ofKind = older.get(route.kind);
      if (ofKind === undefined) older.set(route.kind, [attachment]);
      else ofKind.push(attachment);
      return true;
    }
    diagnostics.report("not-attached", childOf(route.origin, "spec", "hostnames"), {
      route: resourceName(route),
      parent: `${listener.spec.name} of ${resourceName(listener.owner)}`,
      reason: `${resourceName(rival.route)} has its host names there, and is older`,
      cause: "NotAllowed",
    });
    return false;
  });
}

function shareName(one: Attachment, other: Attachment): boolean {
  return one.hostnames.some((name) =>
    other.hostnames.some(
      (each) => each === "*" || name === "*" || intersectHostnames(name, each) !== undefined,
    ),
  );
}

/** Whether a route is of connections, whose bytes are passed on. */
export function isStream({ kind }: Manifest): boolean {
  return kind === "TCPRoute" || kind === "TLSRoute";
}

/** The key of a parent in the map of listeners. */
export function parentKey({ kind, namespace, name }: Manifest): string {
  return `${kind} ${namespace}/${name}`;
}

function attachTo(
  route: AnyRoute,
  reference: ParentReference,
  origin: Origin,
  listeners: ReadonlyMap<string, readonly KubernetesListener[]>,
  context: ReferenceContext,
): readonly Attachment[] {
  const parent = followParent(route, reference, origin, context);
  if (parent?.spec === undefined) return [];
  const all = listeners.get(parentKey(parent)) ?? [];
  // A Gateway of another controller, or a ListenerSet that was not let in.
  if (all.length === 0) return [];
  const named = all.filter(({ spec }) => spec.name === (reference.sectionName ?? spec.name));
  // The listener that was meant may have mistakes, and so may what says which one it is.
  const isUnknown = parent.isPartial || isPartial(origin, route);
  if (named.length === 0) {
    if (isUnknown) return [];
    context.diagnostics.report("missing-section", childOf(origin, "sectionName"), {
      what: resourceName(parent),
      section: reference.sectionName ?? "",
      candidates: all.map(({ spec }) => spec.name),
    });
    return [];
  }
  const steps: readonly Step[] = [
    {
      reason: `no listener has the port ${reference.port}`,
      cause: "NoMatchingParent",
      test: ({ spec }) => spec.port === (reference.port ?? spec.port),
    },
    {
      reason: `its listeners do not take the kind ${route.kind}`,
      cause: "NotAllowedByListeners",
      test: ({ spec }) => kindsTaken(spec).includes(route.kind),
    },
    {
      reason: `its listeners do not let in the namespace "${route.namespace}"`,
      cause: "NotAllowedByListeners",
      test: (each) => letsIn(each, route, context.inventory),
    },
    {
      reason: "their host names do not overlap",
      cause: "NoMatchingListenerHostname",
      test: (each) => sharedNames(route, each).length > 0,
    },
  ];
  let left = named;
  for (const { reason, cause, test } of steps) {
    left = left.filter(test);
    if (left.length > 0) continue;
    if (isUnknown) return [];
    const params = { route: resourceName(route), parent: resourceName(parent), reason, cause };
    context.diagnostics.report("not-attached", origin, params);
    return [];
  }
  return left.map((listener) => ({ route, listener, hostnames: sharedNames(route, listener) }));
}

/** What a listener has to be for a route to attach to it. */
interface Step {
  /** Why no listener is, as the end of a sentence. */
  readonly reason: string;
  readonly cause: MessageParams<"not-attached">["cause"];
  readonly test: (listener: KubernetesListener) => boolean;
}

/** The Gateway or ListenerSet; who may attach is the listener's decision, so no grant is needed. */
function followParent(
  route: AnyRoute,
  reference: ParentReference,
  origin: Origin,
  context: ReferenceContext,
): ManifestOf<"Gateway"> | ManifestOf<"ListenerSet"> | undefined {
  const kind = resourceKind(reference.group ?? groupOf("Gateway"), reference.kind ?? "Gateway");
  if (kind === "HTTPRoute" && route.kind === "HTTPRoute") return undefined;
  const namespace = reference.namespace ?? route.namespace;
  const found =
    kind === "Gateway" || kind === "ListenerSet"
      ? context.inventory.find(kind, namespace, reference.name)
      : undefined;
  if (found === undefined)
    follow({ to: reference, from: route, origin, kinds: ["Gateway", "ListenerSet"] }, context);
  // The map holds a kind's resources under the kind.
  return found as ManifestOf<"Gateway"> | ManifestOf<"ListenerSet"> | undefined;
}

function letsIn(
  { spec, owner }: KubernetesListener,
  route: AnyRoute,
  inventory: Inventory,
): boolean {
  const rule = spec.allowedRoutes?.namespaces;
  return allowsNamespace(rule, "Same", owner.namespace, route.namespace, inventory);
}

function sharedNames({ spec }: AnyRoute, { resource }: KubernetesListener): readonly string[] {
  const names = (spec && "hostnames" in spec && spec.hostnames) || [];
  const known = names.filter((name) => name !== undefined);
  // Of a name with a mistake it is not known which listeners have it; the route answers nothing there.
  if (known.length < names.length || names.length === 0) return ["*"];
  return known.filter((name) => intersectHostnames(name, resource.hostname) !== undefined);
}
