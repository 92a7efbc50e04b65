import type { ListenerNode, Program, RouteNode } from "./ir.ts";

/** A route of a program, and the listeners that serve it. */
export interface ServedRoute {
  readonly route: RouteNode;
  readonly listeners: readonly ListenerNode[];
}

/** The routes of a program in the order of its listeners, each once. */
export function servedRoutes({ binds }: Program): readonly ServedRoute[] {
  const found = binds.flatMap((bind) =>
    bind.listeners.flatMap((listener) => listener.routes.map((route) => ({ route, listener }))),
  );
  return [...Map.groupBy(found, ({ route }) => route)].map(([route, each]) => ({
    route,
    listeners: each.map(({ listener }) => listener),
  }));
}
