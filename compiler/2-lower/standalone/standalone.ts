import type { StandaloneInput } from "../../1-parse/parse.ts";
import type { ListenerValue } from "../../1-parse/standalone/listener.ts";
import { isPartial } from "../../config/broken-parts.ts";
import type {
  GatewayResource,
  ListenerResource,
  Resource,
  RouteResource,
  TcpRouteResource,
} from "../../config/resources.ts";
import { listenerTraffic, reportIdle, SectionUse } from "../../config/sections.ts";
import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import { readAccessLogs, readLogLevels } from "./access-log.ts";
import { readLlm, readMcp } from "./front-doors.ts";
import { frontendSections, readFrontend } from "./frontend.ts";
import { readListenerTls } from "./listener-tls.ts";
import { readProcess, settleThreads } from "./process.ts";
import { readRouteGroups, reportIdleGroups } from "./route-groups.ts";
import { meetPolicies, readNamedBackends, readPolicies } from "./route-parts.ts";
import { type RoutesContext, readRoute } from "./routes.ts";
import { meetServerSections } from "./server-sections.ts";
import { Services } from "./services.ts";
import { checkRouteField, readTcpRoute } from "./tcp-routes.ts";
import { readTracings } from "./tracing.ts";

/**
 * The resources of a standalone file; a policy that is given twice is reported. What has mistakes is not there, and
 * what held it says that it is partial.
 */
export function lowerStandalone(
  { file, origin, broken }: StandaloneInput,
  diagnostics: Diagnostics,
): readonly Resource[] {
  const sections = new SectionUse();
  const services = new Services(file.services ?? [], childOf(origin, "services"), diagnostics);
  const backends = readNamedBackends(file.backends ?? [], {
    diagnostics,
    sections,
    services,
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
    broken,
    diagnostics,
    sections,
    backends,
    services,
    groups,
    groupUse,
  };
  const listeners: ListenerResource[] = [];
  const routes: (RouteResource | TcpRouteResource)[] = [];
  file.binds?.forEach((bind, bindIndex) => {
    bind?.listeners.forEach((listener, listenerIndex) => {
      if (listener === undefined) return;
      const at = childOf(origin, "binds", bindIndex, "listeners", listenerIndex);
      const key = `${bindIndex}/${listenerIndex}`;
      const isListenerPartial = isPartial(at, context, ["routes", "tcpRoutes"]);
      const portOrigin = childOf(origin, "binds", bindIndex, "port");
      const policies = readPolicies(listener.policies ?? {}, childOf(at, "policies"), diagnostics);
      const read = { ...readListener(listener, key, bind.port, portOrigin, at), policies };
      meetPolicies(policies, isListenerPartial ? undefined : listenerTraffic(read), sections);
      const { address, tunnelProtocol } = bind;
      const tunnel = tunnelProtocol && {
        protocol: tunnelProtocol,
        origin: childOf(origin, "binds", bindIndex, "tunnelProtocol"),
      };
      listeners.push({ ...read, address, tunnel, isPartial: isListenerPartial });
      listener.routes?.forEach((route, index) => {
        if (route !== undefined)
          routes.push(...readRoute(route, key, childOf(at, "routes", index), context));
      });
      listener.tcpRoutes?.forEach((route, index) => {
        if (route === undefined) return;
        const isPassedOn = read.protocol === "TLS" && read.tls === undefined;
        routes.push(readTcpRoute(route, key, isPassedOn, childOf(at, "tcpRoutes", index), context));
      });
      // Its protocol may be what was left out.
      if (!isListenerPartial) checkRouteField(listener, at, diagnostics);
    });
  });
  if (broken.length === 0) {
    reportIdleGroups(groups, groupUse, diagnostics);
    services.reportIdle();
  }
  const doors = [
    file.llm && readLlm(file.llm, childOf(origin, "llm"), context),
    file.mcp && readMcp(file.mcp, childOf(origin, "mcp"), context),
  ].filter((door) => door !== undefined);
  listeners.push(...doors.map(({ listener }) => listener));
  routes.push(...doors.map(({ route }) => route));
  const ofClients = listeners.flatMap((listener) => listenerTraffic(listener));
  for (const section of frontendSections(
    file.frontendPolicies,
    childOf(origin, "frontendPolicies"),
  ))
    sections.meet(section, broken.length === 0 ? ofClients : undefined);
  for (const route of routes) {
    if (route.kind === "route") meetServerSections(route, listeners, sections);
  }
  for (const idle of sections.idle()) reportIdle(idle, diagnostics);
  const gateway: GatewayResource = {
    kind: "gateway",
    process: settleThreads(readProcess(file.config, childOf(origin, "config"))),
    frontend: readFrontend(file.frontendPolicies, origin),
    accessLogs: readAccessLogs(file.config?.logging, file.frontendPolicies, origin),
    tracing: readTracings(file, origin, diagnostics),
    logLevels: readLogLevels(file.config?.logging, childOf(origin, "config", "logging")),
    backends: new Map(backends),
    listeners,
    origin,
  };
  return [gateway, ...routes];
}

/** What a listener says of itself. */
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
