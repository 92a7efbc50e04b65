import { policiesText } from "../../../../templates/policies/parts/chain.ts";
import { policiesBefore } from "../../../ir/access.ts";
import type { PolicyUse } from "../../../ir/policies.ts";
import type { BindNode, ListenerNode } from "../../../ir/program.ts";
import type { TcpBindNode, TcpListenerNode } from "../../../ir/tcp.ts";
import { place } from "../places.ts";
import type { LiveView } from "../view.ts";
import type { ListenerData, PolicyData, RoutesData } from "./admin-api.ts";
import { connectionRouteData, type RouteFigures, routeData, routeFigures } from "./route-data.ts";

/** Returns all listeners with their routes. */
export function routesData(view: LiveView): RoutesData {
  const { binds, tcp } = view.current.program;
  const live = routeFigures(view);
  return {
    listeners: binds.flatMap((bind) =>
      bind.listeners.map((listener) => listenerData(bind, listener, live, view)),
    ),
    connections: tcp.flatMap((bind) =>
      bind.listeners.map((listener) => connectionListenerData(bind, listener, view)),
    ),
  };
}

function listenerData(
  { port, tls }: BindNode,
  listener: ListenerNode,
  live: RouteFigures,
  view: LiveView,
): ListenerData {
  return {
    name: listener.name,
    port,
    scheme: tls === undefined ? "http" : "https",
    host: listener.hostname === "*" ? "any host" : listener.hostname,
    place: place(listener.origin, view),
    policies: policyData(policiesBefore(listener), view),
    routes: listener.routes.map((route) => ({
      ...routeData(route, listener, live, view),
      policies: policyData(route.policies, view),
    })),
  };
}

function connectionListenerData(
  { port, mode }: TcpBindNode,
  listener: TcpListenerNode,
  view: LiveView,
): ListenerData {
  // On a port where some TLS ends, the rest has no certificate here.
  const isPassed = mode.kind === "terminate" && listener.tls === undefined;
  const scheme = { plain: "tcp", passthrough: "tls, passed on", terminate: "tls" } as const;
  return {
    name: listener.name,
    port,
    scheme: scheme[isPassed ? "passthrough" : mode.kind],
    host: listener.hostname === "*" ? "any server name" : listener.hostname,
    place: place(listener.origin, view),
    policies: policyData(listener.admission, view),
    routes: listener.routes.map((route) => ({
      ...connectionRouteData(route, listener, view),
      policies: policyData(route.policies, view),
    })),
  };
}

function policyData(policies: readonly PolicyUse[], view: LiveView): readonly PolicyData[] {
  return policies.map((use) => ({ text: policiesText([use]), place: place(use.origin, view) }));
}
