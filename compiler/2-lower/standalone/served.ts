import type { StandaloneInput } from "../../1-parse/parse.ts";
import type { RouteValue } from "../../1-parse/standalone/route.ts";
import type { StandaloneFile } from "../../1-parse/standalone/standalone.ts";
import type { TcpRouteValue } from "../../1-parse/standalone/tcp-route.ts";
import { type BackendConfig, type BackendKind, backendOf } from "../../backends/index.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type {
  ListenerResource,
  RouteBackend,
  RouteResource,
  TcpRouteResource,
} from "../../config/resources.ts";
import { listenerTraffic, SectionUse } from "../../config/sections.ts";
import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import type { Section, Traffic } from "../../model/traffic.ts";
import { limitsTokens } from "../../policies/index.ts";
import {
  AttachedPolicies,
  actingThere,
  type GatewayName,
  placementsOf,
} from "./attached-policies.ts";
import { type DeclaredListener, declaredListeners } from "./declared-listeners.ts";
import { readLlm, readMcp } from "./front-doors.ts";
import { GatewayReferences } from "./gateway-references.ts";
import { mergePolicies, readRouteGroups, reportIdleGroups } from "./route-groups.ts";
import { type FileContext, meetPolicies, readNamedBackends, readPolicies } from "./route-parts.ts";
import { type RoutesContext, readRoute } from "./routes.ts";
import { Services } from "./services.ts";
import { checkRouteField, readTcpRoute } from "./tcp-routes.ts";

/** The resources of a file, or of a part of it. */
export interface ServedParts {
  readonly listeners: readonly ListenerResource[];
  readonly routes: readonly (RouteResource | TcpRouteResource)[];
  /** Named backends. */
  readonly backends: ReadonlyMap<string, RouteBackend>;
  /** Use of the sections. Sections without effect are reported by the caller, which knows all parts. */
  readonly sections: SectionUse;
}

/** The sections of a file that define resources. */
export type ServingValue = Pick<
  StandaloneFile,
  | "gateways"
  | "routes"
  | "tcpRoutes"
  | "binds"
  | "backends"
  | "services"
  | "llm"
  | "mcp"
  | "routeGroups"
  | "policies"
>;

/**
 * Reads the resources of a file and reports policies that are set twice. `gateway` is its name if the file is part
 * of manifests.
 */
export function lowerServed(
  file: ServingValue,
  { origin, broken }: Pick<StandaloneInput, "origin" | "broken">,
  diagnostics: Diagnostics,
  gateway?: GatewayName,
): ServedParts {
  const sections = new SectionUse();
  const services = new Services(file.services ?? [], childOf(origin, "services"), {
    diagnostics,
    broken,
  });
  const attached = new AttachedPolicies(file.policies ?? [], childOf(origin, "policies"), {
    broken,
    diagnostics,
    gateway,
    gateways: Object.keys(file.gateways ?? {}),
  });
  const backends = readNamedBackends(file.backends ?? [], {
    attached,
    diagnostics,
    sections,
    services,
    root: origin,
    broken,
    origin: childOf(origin, "backends"),
  });
  const groups = readRouteGroups(
    file.routeGroups ?? [],
    childOf(origin, "routeGroups"),
    diagnostics,
  );
  const groupUse = { groups: new Set<string>(), routes: new Set<string>() };
  const context: RoutesContext = {
    root: origin,
    broken,
    diagnostics,
    sections,
    backends,
    services,
    groups,
    groupUse,
    attached,
  };
  const bound = declaredListeners(file, origin).flatMap((declared) => {
    const at = declared.resource.origin;
    const listener = guarded(at, diagnostics, () => readListener(declared, context));
    return listener === undefined ? [] : [{ declared, listener }];
  });
  const ofPorts = bound.map(({ listener }) => listener);
  const references = new GatewayReferences(file.gateways, { ...context, listeners: ofPorts });
  const declaredRoutes = [
    ...bound.flatMap(({ declared, listener }) => readInnerRoutes(declared, listener, context)),
    ...readAttachedRoutes(file, references, context),
  ];
  if (broken.length === 0) {
    reportIdleGroups(groups, groupUse, diagnostics);
    services.reportIdle(file);
  }
  const { llm, mcp } = file;
  const isIdle = [file.gateways, llm, mcp].every((each) => each === undefined);
  if (file.binds?.length === 0 && isIdle)
    diagnostics.report("no-ports", keyPlace(childOf(origin, "binds")), {});
  const doorContext = { ...context, references };
  const doors = [
    llm &&
      guarded(childOf(origin, "llm"), diagnostics, () =>
        readLlm(llm, childOf(origin, "llm"), doorContext),
      ),
    mcp &&
      guarded(childOf(origin, "mcp"), diagnostics, () =>
        readMcp(mcp, childOf(origin, "mcp"), doorContext),
      ),
  ].filter((door) => door !== undefined);
  if (broken.length === 0) references.reportIdle();
  const listeners = [...ofPorts, ...doors.flatMap((door) => door.listeners)];
  const routes = [...declaredRoutes, ...doors.flatMap((door) => door.routes)];
  const names = routes.flatMap(({ name }) => name ?? []);
  if (broken.length === 0) attached.reportIdle({ listeners, routes: names }, diagnostics);
  meetServers({ listeners, routes }, sections);
  return { listeners, routes, backends, sections };
}

/** Records which sections have an effect on the servers of routes. */
function meetServers(
  { listeners, routes }: Pick<ServedParts, "listeners" | "routes">,
  sections: SectionUse,
): void {
  const byKey = new Map(listeners.map((each) => [each.key, each]));
  for (const route of routes) {
    if (route.kind === "route") meetServerSections(route, byKey, sections);
  }
}

/** Records whether limits exist for the server settings that act on them; `listeners` are by key. */
function meetServerSections(
  { backends, listeners: served, policies, isPartial }: RouteResource,
  listeners: ReadonlyMap<string, ListenerResource>,
  sections: SectionUse,
): void {
  const own = served.flatMap(({ listener }) => listeners.get(listener) ?? []);
  const isLimited = [policies, ...own.map((each) => each.policies)].flat().some(limitsTokens);
  const limits: readonly Traffic[] = isLimited ? ["tokenLimits"] : [];
  // The limit may have been omitted because of a mistake.
  const isKnown = [isPartial, ...own.map((each) => each.isPartial)].every((each) => each !== true);
  for (const section of backends.flatMap((backend) => sectionsOf(backend))) {
    sections.meet(section, isKnown ? limits : undefined);
  }
}

function sectionsOf<Kind extends BackendKind>(backend: BackendConfig<Kind>): readonly Section[] {
  const servers = backendOf<Kind>(backend.kind).carries(backend);
  return servers.flatMap(({ sections = [] }) => sections);
}

/** Reads a listener without its routes. */
function readListener(
  { resource, policies, policiesOrigin }: DeclaredListener,
  { attached, diagnostics, sections, broken }: FileContext,
): ListenerResource {
  const isListenerPartial =
    attached.isPartial || isPartial(resource.origin, { broken }, ["routes", "tcpRoutes"]);
  const own = readPolicies(policies, policiesOrigin, diagnostics);
  const before = attached.before(resource);
  const all = { policies: before, backendPolicies: undefined };
  const traffic = listenerTraffic(resource);
  const acting = actingThere(mergePolicies(before, own), all, traffic);
  meetPolicies(acting, isListenerPartial ? undefined : traffic, sections);
  return { ...resource, policies: acting, isPartial: isListenerPartial };
}

/** Reads the routes in a listener of a bind. */
function readInnerRoutes(
  { routes, tcpRoutes }: DeclaredListener,
  listener: ListenerResource,
  context: RoutesContext,
): readonly (RouteResource | TcpRouteResource)[] {
  const { origin, protocol, isPartial: isListenerPartial } = listener;
  const read = [
    ...(routes ?? []).flatMap((route, index) =>
      readRoutesOn(route, [listener], childOf(origin, "routes", index), context),
    ),
    ...(tcpRoutes ?? []).flatMap((route, index) =>
      readTcpRoutesOn(route, [listener], childOf(origin, "tcpRoutes", index), context),
    ),
  ];
  // Its protocol may have been omitted because of a mistake.
  if (isListenerPartial !== true)
    checkRouteField({ protocol, routes, tcpRoutes }, origin, context.diagnostics);
  return read;
}

/** Reads the routes of the file that refer to gateways. */
function readAttachedRoutes(
  { routes = [], tcpRoutes = [] }: Pick<ServingValue, "routes" | "tcpRoutes">,
  references: GatewayReferences,
  context: RoutesContext,
): readonly (RouteResource | TcpRouteResource)[] {
  return [
    ...routes.flatMap((route, index) => {
      const at = childOf(context.root, "routes", index);
      if (route === undefined) return [];
      const listeners = references.listenersOf(route.gateways, at, "HTTP");
      return readRoutesOn(route, listeners, at, context);
    }),
    ...tcpRoutes.flatMap((route, index) => {
      const at = childOf(context.root, "tcpRoutes", index);
      if (route === undefined) return [];
      const listeners = references.listenersOf(route.gateways, at, "TCP");
      return readTcpRoutesOn(route, listeners, at, context);
    }),
  ];
}

/** Reads a route on listeners. */
function readRoutesOn(
  route: RouteValue | undefined,
  listeners: readonly ListenerResource[],
  at: Origin,
  context: RoutesContext,
): readonly RouteResource[] {
  if (route === undefined) return [];
  const { attached, diagnostics } = context;
  return placementsOf(listeners, route.hostnames ?? [], attached).flatMap(
    (outer) => guarded(at, diagnostics, () => readRoute(route, at, context, outer)) ?? [],
  );
}

/** Reads a connection route on listeners. */
function readTcpRoutesOn(
  route: TcpRouteValue | undefined,
  listeners: readonly ListenerResource[],
  at: Origin,
  context: FileContext,
): readonly TcpRouteResource[] {
  if (route === undefined) return [];
  const { attached, diagnostics } = context;
  return placementsOf(listeners, route.hostnames ?? [], attached).flatMap(
    (outer) => guarded(at, diagnostics, () => readTcpRoute(route, at, context, outer)) ?? [],
  );
}
