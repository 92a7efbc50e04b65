import type { TcpBindNode, TcpListenerNode } from "../../compiler/ir/tcp.ts";
import { code, literal } from "../code/code.ts";
import type { Code, Hole } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import { conditional, hostConditions } from "../routing/route-chain.ts";
import type { MainNames } from "./main-names.ts";

/** Context of the function of a port whose bytes are passed on. */
export interface TcpBindContext {
  readonly trace: Trace;
  readonly names: MainNames;
  /** Returns the path of a route's module, from `main.ts`. */
  readonly routePath: (route: string) => string;
}

const MODULE = "gwc/runtime/tcp/connection";

/** Writes the choice of a connection's route: first the listener of its server name, then a route of the listener. */
export function tcpBindFunction(bind: TcpBindNode, context: TcpBindContext): Code {
  const { port, listeners, origin, mode } = bind;
  const choices = listeners.flatMap((listener) => listenerChoice(listener, context));
  const isComplete = listeners.some(
    ({ hostname, table }) => hostname === "*" && table.some((each) => each.hostname === "*"),
  );
  const isNamed = mode.kind !== "plain" && choices.length > 0 && !isOnlyDefault(listeners);
  return code`
    ${context.trace(origin)}
    function ${name(context.names.connections.get(port) ?? "")}(connection: ${importedType(MODULE, "Connection")}): void {
      ${isNamed ? code`const { serverName = "" } = connection;` : []}
      ${[...choices, ...(isComplete ? [] : [noSuchServer])]}
    }
  `;
}

/** Returns whether no server name is needed for the choice. */
function isOnlyDefault(listeners: readonly TcpListenerNode[]): boolean {
  return listeners.every(
    ({ hostname, table }) => hostname === "*" && table.every((each) => each.hostname === "*"),
  );
}

const noSuchServer = code`return ${imported(MODULE, "noSuchServer")}(connection);`;

function listenerChoice(listener: TcpListenerNode, context: TcpBindContext): readonly Hole[] {
  const { hostname, table, origin } = listener;
  const own = (each: string) => hostConditions(each === hostname ? "*" : each, "serverName");
  const entries = table.map((entry) =>
    conditional(own(entry.hostname), dispatch(entry.route, listener, context)),
  );
  const isComplete = table.some((each) => each.hostname === hostname || each.hostname === "*");
  const trace = context.trace(origin);
  const conditions = hostConditions(hostname, "serverName");
  if (conditions.length === 0) return [...trace, ...entries];
  const [only] = table;
  if (only !== undefined && table.length === 1 && isComplete) {
    return [...trace, conditional(conditions, dispatch(only.route, listener, context))];
  }
  return [
    ...trace,
    code`
      if (${conditions}) {
        ${[...entries, ...(isComplete ? [] : [noSuchServer])]}
      }
    `,
  ];
}

function dispatch(route: string, listener: TcpListenerNode, { routePath }: TcpBindContext): Code {
  const label = listener.routes.find(({ id }) => id === route)?.name ?? route;
  const handler = imported(routePath(route), route);
  const entered = imported(MODULE, "dispatchConnection");
  return code`return ${entered}(connection, ${literal(listener.name)}, ${literal(label)}, ${handler});`;
}
