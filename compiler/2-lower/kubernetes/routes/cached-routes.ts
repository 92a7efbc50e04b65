import type { RouteResource } from "../../../config/resources.ts";
import { SectionUse } from "../../../config/sections.ts";
import { Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { type Attachment, ROUTE_KINDS } from "./attach.ts";
import { routeResources } from "./http-routes.ts";

/** State that reading a route changes, in addition to its resources. */
type Findings = Pick<PolicyContext, "sections" | "effective" | "secrets" | "configMaps">;

/** A cached route on one of its listeners. */
interface CachedRoute {
  readonly hostnames: readonly string[];
  readonly resources: readonly RouteResource[];
  readonly findings: Findings;
}

/**
 * Caches routes as read, as long as only routes change. Routes with diagnostics are not cached, so that these are
 * reported again.
 */
export class CachedRoutes {
  #others: readonly Manifest[] = [];
  /** Cached routes by manifest, then by listener key. */
  #known: WeakMap<Manifest, Map<string, CachedRoute>> = new WeakMap();

  /** Starts a run; clears the cache if manifests other than routes changed. */
  begin(manifests: readonly Manifest[]): void {
    const others = manifests.filter(({ kind }) => !ROUTE_KINDS.some((each) => each === kind));
    const before = this.#others;
    const isSame =
      others.length === before.length && others.every((each, index) => each === before[index]);
    if (!isSame) this.#known = new WeakMap();
    this.#others = others;
  }

  /** Returns the resources of a route on one of its listeners. */
  resources(
    attachment: Attachment,
    route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
    context: PolicyContext,
  ): readonly RouteResource[] {
    // Delegation makes a route's matches depend on other routes, so these are not cached.
    if (attachment.via !== undefined || attachment.delegations !== undefined)
      return routeResources(attachment, route, context);
    const ofRoute = this.#known.get(route) ?? new Map<string, CachedRoute>();
    this.#known.set(route, ofRoute);
    const { key } = attachment.listener.resource;
    const known = ofRoute.get(key);
    const cached =
      known !== undefined && isSameList(known.hostnames, attachment.hostnames)
        ? known
        : readAlone(attachment, route, context);
    if (cached === undefined) return routeResources(attachment, route, context);
    ofRoute.set(key, cached);
    addFindings(cached.findings, context);
    return cached.resources;
  }
}

/** Reads a route separately; returns `undefined` if it has diagnostics, which may also concern other routes. */
function readAlone(
  attachment: Attachment,
  route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  context: PolicyContext,
): CachedRoute | undefined {
  const diagnostics = new Diagnostics();
  const conflicts = new Set<string>();
  const findings: Findings = {
    sections: new SectionUse(),
    effective: new Map(),
    secrets: new Map(),
    configMaps: new Map(),
  };
  const own = { ...context, ...findings, diagnostics, conflicts };
  const resources = routeResources(attachment, route, own);
  if (diagnostics.list.length + conflicts.size > 0) return undefined;
  return { hostnames: attachment.hostnames, resources, findings };
}

function addFindings(
  { sections, effective, secrets, configMaps }: Findings,
  context: PolicyContext,
): void {
  context.sections.add(sections);
  addSets(effective, context.effective);
  addSets(secrets, context.secrets);
  addSets(configMaps, context.configMaps);
}

function addSets<Key, Value>(
  from: ReadonlyMap<Key, ReadonlySet<Value>>,
  to: Map<Key, Set<Value>>,
): void {
  for (const [key, values] of from) to.set(key, new Set([...(to.get(key) ?? []), ...values]));
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}
