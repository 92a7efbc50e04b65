import { resourceKind } from "../../../1-parse/kubernetes/kinds.ts";
import { isPartial } from "../../../config/broken-parts.ts";
import { intersectHostnames } from "../../../config/hostnames.ts";
import type { MatchConfig } from "../../../config/resources.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { MessageParams } from "../../../diagnostics/messages/index.ts";
import type {
  AttachedKind,
  Manifest,
  ManifestOf,
  RouteKind,
} from "../../../manifests/manifests.ts";
import type { ParentReference, RouteRule } from "../../../manifests/routes.ts";
import { allowsNamespace, type KubernetesListener, kindsTaken } from "../gateway/listeners.ts";
import { type Lookups, resourceName } from "../inventory/inventory.ts";
import { follow, groupOf, type ReferenceContext } from "../inventory/references.ts";

/** A route of any kind. */
export type AnyRoute = ManifestOf<RouteKind>;

/** A resource that attaches to listeners. */
type Attaching = ManifestOf<AttachedKind>;

/** A listener with the hostnames of a resource there. */
export type AttachedListener = Pick<Attachment, "listener" | "hostnames">;

/** A route on one of its listeners. */
export interface Attachment {
  readonly route: AnyRoute;
  readonly listener: KubernetesListener;
  /** The route's hostnames that intersect with the listener's; `*` for every one. */
  readonly hostnames: readonly string[];
  /** Rule that delegates requests to it; absent if it is attached to the listener itself. */
  readonly via?: DelegatingRule;
  /** Matches of its rules that delegate, by their index. */
  readonly delegations?: ReadonlyMap<number, readonly MatchConfig[]>;
}

/** A rule that delegates its requests to other routes. */
export interface DelegatingRule {
  readonly from: Attachment;
  readonly route: ManifestOf<"HTTPRoute">;
  readonly rule: RouteRule;
  readonly index: number;
  /** Requests that reach it. */
  readonly matches: readonly MatchConfig[];
}

/** The kinds of routes. */
export const ROUTE_KINDS: readonly RouteKind[] = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute"];

/** Attaches a route to the listeners that its parentRefs name; reports parents that do not allow it. */
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
      : attachTo(route, reference, childOf(place, index), listeners, context).map((each) => ({
          route,
          ...each,
        })),
  );
  // An HTTPRoute without parents may be one that others delegate to.
  const mayBeDelegatedTo = route.kind === "HTTPRoute";
  if ((spec.parentRefs ?? []).length === 0 && !mayBeDelegatedTo && !isPartial(place, route)) {
    context.diagnostics.report("not-attached", childOf(route.origin, "spec"), {
      route: resourceName(route),
      parent: "any Gateway",
      reason: "it has no parentRefs",
      cause: "NoMatchingParent",
    });
  }
  // Several references may lead to the same listener.
  const seen = new Set<string>();
  return found.filter(({ listener: { resource } }) => {
    if (seen.has(resource.key)) return false;
    seen.add(resource.key);
    return true;
  });
}

/**
 * Removes attachments, given oldest first, of routes that share a hostname on a listener with an older route of
 * the other kind: a hostname serves either HTTP or gRPC (Gateway API GRPCRoute).
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

/** Whether a route is a TCP or TLS route. */
export function isStream({ kind }: Manifest): boolean {
  return kind === "TCPRoute" || kind === "TLSRoute";
}

/** Returns the key of a parent in the map of listeners. */
export function parentKey({ kind, namespace, name }: Manifest): string {
  return `${kind} ${namespace}/${name}`;
}

/** Returns the listeners of one parent of a resource; reports a parent that does not allow it. */
export function attachTo(
  route: Attaching,
  reference: ParentReference,
  origin: Origin,
  listeners: ReadonlyMap<string, readonly KubernetesListener[]>,
  context: ReferenceContext,
): readonly AttachedListener[] {
  const parent = followParent(route, reference, origin, context);
  if (parent?.spec === undefined) return [];
  const all = listeners.get(parentKey(parent)) ?? [];
  // A Gateway of another controller, or a ListenerSet that was not allowed.
  if (all.length === 0) return [];
  const named = all.filter(({ spec }) => spec.name === (reference.sectionName ?? spec.name));
  // The intended listener may be one with mistakes, and so may the reference to it.
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
  return left.map((listener) => ({ listener, hostnames: sharedNames(route, listener) }));
}

/** A condition for a route to attach to a listener. */
interface Step {
  /** Reason why no listener meets it, as the end of a sentence. */
  readonly reason: string;
  readonly cause: MessageParams<"not-attached">["cause"];
  readonly test: (listener: KubernetesListener) => boolean;
}

/** Returns the Gateway or ListenerSet. The listener decides who can attach, so no ReferenceGrant is needed. */
function followParent(
  route: Attaching,
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
  // Safe: the map only has resources of a kind under that kind.
  return found as ManifestOf<"Gateway"> | ManifestOf<"ListenerSet"> | undefined;
}

function letsIn(
  { spec, owner }: KubernetesListener,
  route: Attaching,
  inventory: Lookups,
): boolean {
  const rule = spec.allowedRoutes?.namespaces;
  return allowsNamespace(rule, "Same", owner.namespace, route.namespace, inventory);
}

function sharedNames({ spec }: Attaching, { resource }: KubernetesListener): readonly string[] {
  const names = (spec && "hostnames" in spec && spec.hostnames) || [];
  const known = names.filter((name) => name !== undefined);
  // A hostname with a mistake could match any listener; the route then serves nothing there.
  if (known.length < names.length || names.length === 0) return ["*"];
  return known.filter((name) => intersectHostnames(name, resource.hostname) !== undefined);
}
