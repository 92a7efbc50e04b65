import path from "node:path";
import type { Parsed } from "../1-parse/parse.ts";
import { Diagnostics, type Outcome } from "../diagnostics.ts";
import type { Host } from "../host.ts";
import type { BindNode, ListenerNode, Program } from "../ir.ts";
import type { GatewayResource, ListenerResource, RouteResource } from "../resources.ts";
import { compareHostnames } from "./hostnames.ts";
import { resolveTls } from "./listener-tls.ts";
import { checkListeners } from "./listeners.ts";
import { Names } from "./names.ts";
import { type RouteContext, resolveRoute } from "./routes.ts";
import { routingTable } from "./table.ts";

/** Looks everything up: the program of a gateway, with nothing left to decide but how to write it down. */
export function resolve(
  { resources, files, inputs }: Parsed,
  name: string,
  host: Host,
): Outcome<Program> {
  const diagnostics = new Diagnostics();
  const gateway = resources.find((resource) => resource.kind === "gateway");
  const routes = resources.filter((resource) => resource.kind === "route");
  if (gateway === undefined) return { value: undefined, diagnostics: diagnostics.list };
  const folder = path.dirname(files[0]?.path ?? ".");
  const context: RouteContext = {
    host,
    diagnostics,
    names: new Names(),
    resolvePath: (file) => (path.isAbsolute(file) ? file : path.join(folder, file)),
  };
  checkListeners(gateway, context);
  const program: Program = {
    name,
    inputs: inputs.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    binds: resolveBinds(gateway, routes, context),
    process: gateway.process,
    connections: gateway.frontend.connections,
    maxBufferSize: gateway.frontend.maxBufferSize,
  };
  return { value: program, diagnostics: diagnostics.list };
}

function resolveBinds(
  gateway: GatewayResource,
  routes: readonly RouteResource[],
  context: RouteContext,
): readonly BindNode[] {
  const listenerNames = new Names();
  const byPort = Map.groupBy(gateway.listeners, (listener) => listener.port);
  return [...byPort.entries()].map(([port, listeners]) => ({
    port,
    origin: listeners[0]?.portOrigin ?? gateway.origin,
    tls: resolveTls(listeners, gateway.frontend.tls, context.diagnostics),
    listeners: listeners
      .map((listener) => resolveListener(listener, listenerNames, routes, context))
      .sort((a, b) => compareHostnames(a.hostname, b.hostname)),
  }));
}

function resolveListener(
  listener: ListenerResource,
  names: Names,
  routes: readonly RouteResource[],
  context: RouteContext,
): ListenerNode {
  const own = routes
    .filter((route) => route.listeners.includes(listener.key))
    .flatMap((route) => resolveRoute(route, listener, context) ?? []);
  return {
    id: names.take(listener.name),
    name: listener.name,
    hostname: listener.hostname,
    tls: listener.tls && { cert: listener.tls.cert, key: listener.tls.key },
    routes: own.map(({ route }) => route),
    table: routingTable(own, context.diagnostics),
    origin: listener.origin,
  };
}
