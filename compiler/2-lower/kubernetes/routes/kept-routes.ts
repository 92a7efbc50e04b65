import type { RouteResource } from "../../../config/resources.ts";
import { SectionUse } from "../../../config/sections.ts";
import { Diagnostics } from "../../../diagnostics/diagnostic.ts";
import type { Manifest, ManifestOf } from "../../../manifests/manifests.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { type Attachment, ROUTE_KINDS } from "./attach.ts";
import { routeResources } from "./http-routes.ts";

/** What reading a route finds out, besides its resources. */
type Findings = Pick<PolicyContext, "sections" | "effective" | "secrets" | "configMaps">;

/** A route as it was read on one of its listeners. */
interface KeptRoute {
  readonly hostnames: readonly string[];
  readonly resources: readonly RouteResource[];
  readonly findings: Findings;
}

/**
 * Routes as they were read: while nothing but routes has changed, a route that is the same means the same. One of which there
 * was something to report is read again.
 */
export class KeptRoutes {
  #others: readonly Manifest[] = [];
  /** By route, then by the key of the listener. */
  #known: WeakMap<Manifest, Map<string, KeptRoute>> = new WeakMap();

  /** Begins with these manifests. */
  begin(manifests: readonly Manifest[]): void {
    const others = manifests.filter(({ kind }) => !ROUTE_KINDS.some((each) => each === kind));
    const before = this.#others;
    const isSame =
      others.length === before.length && others.every((each, index) => each === before[index]);
    if (!isSame) this.#known = new WeakMap();
    this.#others = others;
  }

  /** The resources of a route on one of its listeners. */
  resources(
    attachment: Attachment,
    route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
    context: PolicyContext,
  ): readonly RouteResource[] {
    // What other routes hand on to it depends on them, as what is left for it of what it hands on.
    if (attachment.via !== undefined || attachment.delegations !== undefined)
      return routeResources(attachment, route, context);
    const ofRoute = this.#known.get(route) ?? new Map<string, KeptRoute>();
    this.#known.set(route, ofRoute);
    const { key } = attachment.listener.resource;
    const known = ofRoute.get(key);
    const kept =
      known !== undefined && isSameList(known.hostnames, attachment.hostnames)
        ? known
        : readAlone(attachment, route, context);
    if (kept === undefined) return routeResources(attachment, route, context);
    ofRoute.set(key, kept);
    addFindings(kept.findings, context);
    return kept.resources;
  }
}

/** A route read by itself; undefined when there is something to report, which may be about others as well. */
function readAlone(
  attachment: Attachment,
  route: ManifestOf<"HTTPRoute" | "GRPCRoute">,
  context: PolicyContext,
): KeptRoute | undefined {
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
