import type { ListenerNode, Program, RouteNode, TcpListenerNode, TcpRouteNode } from "./ir.ts";

/** The routes of a program, those of requests and then those of connections, with the names of their listeners. */
export function routesWithListeners({
  binds,
  tcp,
}: Program): readonly { readonly route: RouteNode | TcpRouteNode; readonly listener: string }[] {
  const listeners: readonly (ListenerNode | TcpListenerNode)[] = [
    ...binds.flatMap((bind) => bind.listeners),
    ...tcp.flatMap((bind) => bind.listeners),
  ];
  return listeners.flatMap(({ routes, name }) =>
    routes.map((route) => ({ route, listener: name })),
  );
}

/** The routes of a program, in the order of their modules. */
export function allRoutes(program: Program): readonly (RouteNode | TcpRouteNode)[] {
  return routesWithListeners(program).map(({ route }) => route);
}

/** The ports that a program opens for clients. */
export function clientPorts({ binds, tcp }: Program): readonly number[] {
  return [...binds, ...tcp].map(({ port }) => port);
}
