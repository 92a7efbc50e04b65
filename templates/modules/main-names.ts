import type { Program } from "../../compiler/ir/program.ts";
import { capitalized } from "../code/names.ts";
import { OWN_TOKENS } from "./own-tokens.ts";

/** Unique names of the functions and constants of `main.ts`. */
export interface MainNames {
  /** Names by a listener's id. */
  readonly listeners: ReadonlyMap<string, ListenerNames>;
  readonly ports: ReadonlyMap<number, PortNames>;
  /** Handlers of connections that are passed on, by port. */
  readonly connections: ReadonlyMap<number, string>;
  /** All of these names. */
  readonly declared: readonly string[];
}

/** Names for a listener. */
export interface ListenerNames {
  readonly handler: string;
  readonly table: string;
  /** Function that chooses the route after the listener's policies. */
  readonly router: string;
}

/** Names for a port of HTTP. */
export interface PortNames {
  readonly handler: string;
  readonly choice: string;
  readonly table: string;
}

/** Chooses the names for a program. Names of the configuration have precedence over derived ones. */
export function mainNames({ binds, tcp }: Program): MainNames {
  const taken = new Set(["gateway", OWN_TOKENS]);
  const take = (wanted: string): string => {
    let found = wanted;
    for (let count = 2; taken.has(found); count++) found = `${wanted}${count}`;
    taken.add(found);
    return found;
  };
  const ids = binds.flatMap((bind) => bind.listeners.map(({ id }) => id));
  const handlers = ids.map((id) => take(taken.has(id) ? `${id}Listener` : id));
  const ports = new Map(
    binds.map(({ port }) => [
      port,
      {
        handler: take(`onPort${port}`),
        choice: take(`listenerOnPort${port}`),
        table: take(`listenersOnPort${port}`),
      },
    ]),
  );
  const connections = new Map(
    tcp.map(({ port }) => [
      port,
      take(ports.has(port) ? `connectionsOnPort${port}` : `onPort${port}`),
    ]),
  );
  const listeners = new Map(
    ids.map((id, index) => {
      const handler = handlers[index] ?? id;
      const router = `route${capitalized(handler)}`;
      return [id, { handler, table: take(`${handler}Routes`), router: take(router) }];
    }),
  );
  return { listeners, ports, connections, declared: [...taken] };
}
