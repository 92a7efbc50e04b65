import type { RouteMatch } from "../model/matches.ts";
import type { ListenerNode, Program, RouteNode } from "./program.ts";
import type { TcpListenerNode, TcpRouteNode } from "./tcp.ts";

/** A route of a program, and the listeners that serve it. */
export interface ServedRoute {
  readonly route: RouteNode;
  readonly listeners: readonly ListenerNode[];
}

/** A connection route of a program, and the listeners that serve it. */
export interface ServedTcpRoute {
  readonly route: TcpRouteNode;
  readonly listeners: readonly TcpListenerNode[];
}

/** A hostname that serves a route, and its matches there. */
export interface ServedHost {
  readonly hostname: string;
  readonly matches: readonly RouteMatch[];
}

/** Returns the routes of a program in the order of its listeners, each once. */
export function servedRoutes({ binds }: Program): readonly ServedRoute[] {
  return onceEach<ListenerNode, RouteNode>(binds.flatMap(({ listeners }) => listeners));
}

/** Returns the connection routes in the order of their listeners, each once. */
export function servedTcpRoutes({ tcp }: Program): readonly ServedTcpRoute[] {
  return onceEach<TcpListenerNode, TcpRouteNode>(tcp.flatMap(({ listeners }) => listeners));
}

/** Returns the hostnames of routes by route id. */
export function servedHosts({ binds }: Program): ReadonlyMap<string, readonly ServedHost[]> {
  const tables = binds.flatMap(({ listeners }) => listeners.flatMap(({ table }) => table));
  const hosts = tables.flatMap(({ shared, entries }) =>
    [...Map.groupBy(entries, ({ route }) => route)].map(([route, each]) => {
      return { route, host: { hostname: shared, matches: each.map(({ match }) => match) } };
    }),
  );
  const byRoute = Map.groupBy(hosts, ({ route }) => route);
  return new Map([...byRoute].map(([route, each]) => [route, each.map(({ host }) => host)]));
}

/** Returns all routes, in the order of their modules. */
export function allRoutes(program: Program): readonly (ServedRoute | ServedTcpRoute)[] {
  return [...servedRoutes(program), ...servedTcpRoutes(program)];
}

function onceEach<Listener extends { readonly routes: readonly Route[] }, Route>(
  listeners: readonly Listener[],
): readonly { readonly route: Route; readonly listeners: readonly Listener[] }[] {
  const found = listeners.flatMap((listener) =>
    listener.routes.map((route) => ({ route, listener })),
  );
  return [...Map.groupBy(found, ({ route }) => route)].map(([route, each]) => ({
    route,
    listeners: each.map(({ listener }) => listener),
  }));
}
