import { frontendOfPort } from "../config/frontend.ts";
import { compareHostnames } from "../config/hostnames.ts";
import type { GatewayResource, ListenerResource, TcpRouteResource } from "../config/resources.ts";
import { childOf, keyPlace } from "../diagnostics/diagnostic.ts";
import { guarded } from "../diagnostics/guarded.ts";
import type { PolicyUse } from "../ir/policies.ts";
import type { TcpBindNode, TcpListenerNode, TcpMode, TcpRouteNode } from "../ir/tcp.ts";
import { type PolicyKind, policyOf } from "../policies/index.ts";
import { checkShares, openProxyOf, resolveTcpBackend, serverChoice } from "./backends.ts";
import { connectionsOfPort } from "./connection-rules.ts";
import { withoutConsequences } from "./consequences.ts";
import { certificateOf, ownHandshake, type PortTlsNodes, resolveTls } from "./listener-tls.ts";
import { resolvePolicies, withoutRoute } from "./policies.ts";
import { proxyProtocolOf } from "./proxied-ports.ts";
import { inRequestOrder } from "./request-order.ts";
import { type RouteContext, resolveHostnames } from "./routes.ts";

/** A route with the server names that lead to it. */
interface NamedTcpRoute {
  readonly route: TcpRouteNode;
  readonly hostnames: readonly string[];
}

/** Resolves the ports of TCP routes. */
export function resolveTcpBinds(
  gateway: GatewayResource,
  routes: readonly TcpRouteResource[],
  admission: (port: number) => TcpListenerNode["admission"],
  context: RouteContext,
): readonly TcpBindNode[] {
  const listeners = gateway.listeners.filter(
    ({ protocol }) => protocol === "TCP" || protocol === "TLS",
  );
  const byListener = attachedRoutes(routes, listeners, context);
  const byPort = Map.groupBy(listeners, ({ port }) => port);
  return Array.from(byPort, ([port, own]) => {
    const { tls: shared } = frontendOfPort(gateway, port);
    const sorted = own.toSorted((a, b) => compareHostnames(a.hostname, b.hostname));
    // The application protocol is up to the backend: ALPN offers what is configured, or nothing.
    const nodes = resolveTls(sorted, shared, shared.otherAlpn, context.diagnostics);
    const isPlain = own.some(({ protocol }) => protocol === "TCP");
    return {
      port,
      address: own[0]?.address,
      proxyProtocol: proxyProtocolOf(own, gateway),
      ...connectionsOfPort(port, gateway),
      origin: own[0]?.portOrigin ?? gateway.origin,
      mode: isPlain ? { kind: "plain" } : modeOf(nodes, shared.handshakeTimeout),
      listeners: own
        .map((listener) => ({
          ...resolveListener(listener, byListener.get(listener.key) ?? [], context),
          ...ownHandshake(listener, nodes),
          admission: admission(port),
        }))
        .sort((a, b) => compareHostnames(a.hostname, b.hostname)),
    };
  });
}

function modeOf({ tls }: PortTlsNodes, handshakeTimeout: number): TcpMode {
  return tls === undefined ? { kind: "passthrough", handshakeTimeout } : { kind: "terminate", tls };
}

/** Returns the resolved routes by listener key; a route is resolved once for all of its listeners. */
function attachedRoutes(
  routes: readonly TcpRouteResource[],
  listeners: readonly ListenerResource[],
  context: RouteContext,
): ReadonlyMap<string, readonly NamedTcpRoute[]> {
  const found = routes.flatMap((resource) => {
    const attached = resource.listeners.flatMap(({ listener: key, hostnames }) =>
      listeners.filter((each) => each.key === key).map((listener) => ({ listener, hostnames })),
    );
    const route = guarded(resource.origin, context.diagnostics, () =>
      resolveTcpRoute(resource, attached, context),
    );
    if (route === undefined) return [];
    return attached.flatMap(({ listener, hostnames }) => {
      const names = resolveHostnames(hostnames, listener, resource, context);
      // The server names of a partial route are unknown.
      return names.length === 0 || resource.isPartial === true
        ? []
        : [{ key: listener.key, route, hostnames: names }];
    });
  });
  return Map.groupBy(found, ({ key }) => key);
}

function resolveListener(
  listener: ListenerResource,
  routes: readonly NamedTcpRoute[],
  context: RouteContext,
): Omit<TcpListenerNode, "admission" | "handshake"> {
  return {
    id: context.listenerNames.take(listener.name),
    name: listener.name,
    hostname: listener.hostname,
    tls: certificateOf(listener),
    routes: routes.map(({ route }) => route),
    table: nameTable(routes, context),
    origin: listener.origin,
  };
}

/** Returns the route for each server name, most specific first; of several routes for a name, the first. */
function nameTable(
  routes: readonly NamedTcpRoute[],
  { diagnostics }: RouteContext,
): TcpListenerNode["table"] {
  const first = new Map<string, NamedTcpRoute>();
  for (const each of routes) {
    const others = each.hostnames.map((hostname) => first.get(hostname));
    for (const hostname of each.hostnames) if (!first.has(hostname)) first.set(hostname, each);
    const [by] = others;
    if (by === undefined || others.includes(undefined)) continue;
    diagnostics.report(
      "unreachable-route",
      each.route.origin,
      { route: each.route.name, by: by.route.name },
      [{ at: by.route.origin, label: "this route comes first" }],
    );
  }
  return [...first]
    .map(([hostname, { route }]) => ({ hostname, route: route.id }))
    .sort((a, b) => compareHostnames(a.hostname, b.hostname));
}

/** A listener that a route is attached to, with the server names that the route serves there. */
interface TcpAttachment {
  readonly listener: ListenerResource;
  readonly hostnames: readonly string[];
}

/** Resolves a TCP route, once for all of its listeners. */
function resolveTcpRoute(
  resource: TcpRouteResource,
  attachments: readonly TcpAttachment[],
  whole: RouteContext,
): TcpRouteNode {
  const { origin } = resource;
  const context = withoutConsequences(
    whole,
    resource,
    ...attachments.map(({ listener }) => listener),
  );
  const [first] = attachments;
  const name = resource.name ?? first?.hostnames[0] ?? first?.listener.name ?? "route";
  if (attachments.some(({ listener, hostnames }) => isPlain(listener) && hostnames.length > 0)) {
    context.diagnostics.report("name-without-tls", keyPlace(childOf(origin, "hostnames")), {});
  }
  checkBackends(resource, attachments, name, context);
  return {
    id: context.names.take(...(resource.ids ?? [name])),
    name,
    policies: resolveTcpPolicies(resource, context),
    backends: resource.backends.flatMap((each) => resolveTcpBackend(each, context) ?? []),
    origin,
  };
}

function isPlain({ protocol }: ListenerResource): boolean {
  return protocol === "TCP";
}

function checkBackends(
  resource: TcpRouteResource,
  attachments: readonly TcpAttachment[],
  route: string,
  { diagnostics }: RouteContext,
): void {
  const { backends, policies, origin } = resource;
  const [first] = backends;
  if (first === undefined) {
    diagnostics.report("route-without-backend", origin, { route });
    return;
  }
  if (backends.every(({ weight }) => weight === 0)) {
    diagnostics.report("no-weight", keyPlace(first.origin), {
      outcome: "every connection is closed",
    });
  }
  checkShares(resource, [], diagnostics);
  const proxy = openProxyOf(backends);
  if (proxy === undefined) return;
  const at = keyPlace(proxy.origin);
  const isComputed = serverChoice(proxy) === "expression";
  if (!isComputed && attachments.some(({ listener }) => isPlain(listener))) {
    diagnostics.report("no-destination", at, {});
    return;
  }
  // Listed names are the only destinations.
  const isOpen = attachments.some(({ listener, hostnames }) =>
    (hostnames.length === 0 ? [listener.hostname] : hostnames).includes("*"),
  );
  if (isOpen && policies.length === 0) {
    diagnostics.report("open-proxy", at, { route, by: isComputed ? "expression" : "name" });
  }
}

function resolveTcpPolicies(
  { policies }: TcpRouteResource,
  context: RouteContext,
): readonly PolicyUse[] {
  const ordered = inRequestOrder(policies, { name: "listener", kinds: [] }, context.diagnostics);
  const uses = resolvePolicies(ordered, { ...withoutRoute, isOfConnections: true }, context);
  for (const use of uses) checkConnection(use, context);
  return uses;
}

function checkConnection<Kind extends PolicyKind>(
  { kind, settings }: PolicyUse<Kind>,
  { diagnostics }: RouteContext,
): void {
  policyOf(kind).lowering.checkConnection?.(settings, diagnostics);
}
