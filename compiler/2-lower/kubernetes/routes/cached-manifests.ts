import { CachedByObject, CachedByObjects } from "../../../cached-results.ts";
import type { MatchConfig, RouteResource, TcpRouteResource } from "../../../config/resources.ts";
import { type Diagnostic, placeKey } from "../../../diagnostics/diagnostic.ts";
import type { CachedBackends } from "../backends/backends.ts";
import { CachedReadings } from "../inventory/cached-readings.ts";
import type { CachedModelRoutes } from "../models/model-routes.ts";
import { newContext } from "../policies/new-context.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import type { CachedUnserved } from "../policies/unserved.ts";
import type { Attachment, DelegatingRule } from "./attach.ts";

/** State that reading a route changes, in addition to its resources. */
type Findings = Pick<PolicyContext, "sections" | "effective" | "secrets" | "configMaps">;

/** A route on one of its listeners, as read. */
interface ReadRoute<Resource> {
  readonly attachment: Attachment;
  readonly resources: readonly Resource[];
  readonly findings: Findings;
}

/** Caches what manifests mean, until something changes that it depends on. */
export class CachedManifests {
  readonly backends: CachedBackends = new CachedReadings();
  readonly routes = new CachedRoutes<RouteResource>();
  readonly streams = new CachedRoutes<TcpRouteResource>();
  readonly unserved: CachedUnserved = new CachedReadings();
  readonly modelRoutes: CachedModelRoutes = new CachedByObjects();
  /** Sizes of rules, for the bounds of namespaces. */
  readonly sizes = new CachedByObject<object, number>();
}

/** Caches routes as read. */
class CachedRoutes<Resource> {
  readonly #readings = new CachedReadings<ReadRoute<Resource>>();
  /** Rules of several listeners, merged. */
  readonly shared = new CachedByObjects<object, readonly Resource[]>();

  /** Returns the resources of a route on one of its listeners, which `read` returns. */
  of(
    attachment: Attachment,
    context: PolicyContext,
    read: (context: PolicyContext) => readonly Resource[],
  ): readonly Resource[] {
    const { route, listener, via } = attachment;
    const name = JSON.stringify([listener.resource.key, wayOf(via)]);
    const { value, diagnostics } = this.#readings.of(
      route,
      name,
      context,
      (recorded) => readAlone(attachment, recorded, read),
      (known) => isSameAttachment(known.attachment, attachment),
    );
    for (const each of diagnostics) reportOnce(each, context);
    addFindings(value.findings, context);
    return value.resources;
  }
}

/** Reports a mistake of a policy once, not for each of its routes. */
function reportOnce(found: Diagnostic, { diagnostics, reported }: PolicyContext): void {
  const text = JSON.stringify(found);
  if (reported.has(text)) return;
  reported.add(text);
  diagnostics.add(found);
}

/** Reads a route separately from the others. */
function readAlone<Resource>(
  attachment: Attachment,
  context: PolicyContext,
  read: (context: PolicyContext) => readonly Resource[],
): ReadRoute<Resource> {
  const own = newContext(context);
  const resources = read(own);
  // The rest of the context belongs to this run.
  const { sections, effective, secrets, configMaps } = own;
  return { attachment, resources, findings: { sections, effective, secrets, configMaps } };
}

/** Whether two attachments are of the same route to the same listener, with the same requests. */
function isSameAttachment(one: Attachment, other: Attachment): boolean {
  return (
    one.route === other.route &&
    one.listener.gateway === other.listener.gateway &&
    one.listener.owner === other.listener.owner &&
    one.listener.resource.key === other.listener.resource.key &&
    JSON.stringify(one.hostnames) === JSON.stringify(other.hostnames) &&
    matchesText(one.delegations) === matchesText(other.delegations) &&
    isSameWay(one.via, other.via)
  );
}

/** Whether two rules delegate the same requests. */
function isSameWay(one: DelegatingRule | undefined, other: DelegatingRule | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.route === other.route &&
    one.index === other.index &&
    JSON.stringify(one.matches) === JSON.stringify(other.matches) &&
    isSameWay(one.from.via, other.from.via)
  );
}

/** Returns the places of the rules that delegate to a route, outermost last. */
function wayOf(via: DelegatingRule | undefined): readonly string[] {
  if (via === undefined) return [];
  return [`${placeKey(via.route.origin)} ${via.index}`, ...wayOf(via.from.via)];
}

function matchesText(delegations: ReadonlyMap<number, readonly MatchConfig[]> = new Map()): string {
  return JSON.stringify([...delegations]);
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
  for (const [key, values] of from) {
    const known = to.get(key);
    if (known === undefined) to.set(key, new Set(values));
    else for (const each of values) known.add(each);
  }
}
