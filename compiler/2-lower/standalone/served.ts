import type { StandaloneInput } from "../../1-parse/parse.ts";
import type { ListenerValue } from "../../1-parse/standalone/listener.ts";
import type { StandaloneFile } from "../../1-parse/standalone/standalone.ts";
import { type BackendConfig, type BackendKind, backendOf } from "../../backends/index.ts";
import { isPartial } from "../../config/broken-parts.ts";
import { isPassedOn } from "../../config/passed-on.ts";
import type {
  ListenerResource,
  RouteBackend,
  RouteResource,
  TcpRouteResource,
} from "../../config/resources.ts";
import { listenerTraffic, SectionUse } from "../../config/sections.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { guarded } from "../../diagnostics/guarded.ts";
import type { Section, Traffic } from "../../model/traffic.ts";
import { limitsTokens } from "../../policies/index.ts";
import { AttachedPolicies, actingThere, type GatewayName } from "./attached-policies.ts";
import { readLlm, readMcp } from "./front-doors.ts";
import { readListenerTls } from "./listener-tls.ts";
import { mergePolicies, readRouteGroups, reportIdleGroups } from "./route-groups.ts";
import { meetPolicies, readNamedBackends, readPolicies } from "./route-parts.ts";
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
  "binds" | "backends" | "services" | "llm" | "mcp" | "routeGroups" | "policies"
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
  const listeners: ListenerResource[] = [];
  const routes: (RouteResource | TcpRouteResource)[] = [];
  for (const each of boundListeners(file, origin)) {
    const read = guarded(each.at, diagnostics, () => readBoundListener(each, context));
    if (read === undefined) continue;
    listeners.push(read.listener);
    routes.push(...read.routes);
  }
  if (broken.length === 0) {
    reportIdleGroups(groups, groupUse, diagnostics);
    services.reportIdle();
  }
  const { llm, mcp } = file;
  const doors = [
    llm &&
      guarded(childOf(origin, "llm"), diagnostics, () =>
        readLlm(llm, childOf(origin, "llm"), context),
      ),
    mcp &&
      guarded(childOf(origin, "mcp"), diagnostics, () =>
        readMcp(mcp, childOf(origin, "mcp"), context),
      ),
  ].filter((door) => door !== undefined);
  listeners.push(...doors.map(({ listener }) => listener));
  routes.push(...doors.map(({ route }) => route));
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

type BindValue = NonNullable<NonNullable<ServingValue["binds"]>[number]>;

/** A listener of a port, with the locations of both. */
interface BoundListener {
  readonly bind: BindValue;
  readonly bindAt: Origin;
  readonly listener: ListenerValue;
  readonly at: Origin;
  readonly key: string;
}

function boundListeners({ binds = [] }: ServingValue, origin: Origin): readonly BoundListener[] {
  return binds.flatMap((bind, bindIndex) => {
    const bindAt = childOf(origin, "binds", bindIndex);
    return (bind?.listeners ?? []).flatMap((listener, index) => {
      if (bind === undefined || listener === undefined) return [];
      const at = childOf(bindAt, "listeners", index);
      return { bind, bindAt, listener, at, key: `${bindIndex}/${index}` };
    });
  });
}

/** Reads a listener and its own routes. */
function readBoundListener(
  { bind, bindAt, listener, at, key }: BoundListener,
  context: RoutesContext,
): Pick<ServedParts, "routes"> & { readonly listener: ListenerResource } {
  const { attached, diagnostics, sections } = context;
  const isListenerPartial = attached.isPartial || isPartial(at, context, ["routes", "tcpRoutes"]);
  const own = readPolicies(listener.policies ?? {}, childOf(at, "policies"), diagnostics);
  const named = readListener(listener, key, bind.port, childOf(bindAt, "port"), at);
  const before = attached.before(named);
  const all = { policies: before, backendPolicies: undefined };
  const policies = actingThere(mergePolicies(before, own), all, listenerTraffic(named));
  const general = attached.onRoutes(named);
  const read = { ...named, policies };
  meetPolicies(policies, isListenerPartial ? undefined : listenerTraffic(read), sections);
  const { address, tunnelProtocol } = bind;
  const tunnel = tunnelProtocol && {
    protocol: tunnelProtocol,
    origin: childOf(bindAt, "tunnelProtocol"),
  };
  const routes = (listener.routes ?? []).flatMap((route, index) => {
    const place = childOf(at, "routes", index);
    if (route === undefined) return [];
    return guarded(place, diagnostics, () => readRoute(route, key, place, context, general)) ?? [];
  });
  const tcpRoutes = (listener.tcpRoutes ?? []).flatMap((route, index) => {
    const place = childOf(at, "tcpRoutes", index);
    if (route === undefined) return [];
    return (
      guarded(place, diagnostics, () =>
        readTcpRoute(route, key, isPassedOn(read), place, context, general),
      ) ?? []
    );
  });
  // Its protocol may have been omitted because of a mistake.
  if (!isListenerPartial) checkRouteField(listener, at, diagnostics);
  return {
    listener: { ...read, address, tunnel, isPartial: isListenerPartial },
    routes: [...routes, ...tcpRoutes],
  };
}

/** The fields of a listener itself. */
type ReadListener = Omit<ListenerResource, "policies" | "isPartial" | "address" | "tunnel">;

function readListener(
  listener: ListenerValue,
  key: string,
  port: number,
  portOrigin: Origin,
  origin: Origin,
): ReadListener {
  const hostname = listener.hostname ?? "*";
  return {
    key,
    name: listener.name ?? (hostname === "*" ? `port-${port}` : hostname),
    port,
    portOrigin,
    hostname,
    protocol: listener.protocol ?? "HTTP",
    tls: listener.tls && readListenerTls(listener.tls),
    pathHandling: listener.pathHandling && {
      value: listener.pathHandling,
      origin: childOf(origin, "pathHandling"),
    },
    origin,
  };
}
