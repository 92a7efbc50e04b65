import type { BindNode, ListenerNode, RouteEntry } from "../../compiler/ir/program.ts";
import { code, join, literal } from "../code/code.ts";
import type { Expressions } from "../code/expression.ts";
import type { Code, ImportSymbol, Name } from "../code/hole.ts";
import { imported, importedType, name } from "../code/names.ts";
import type { Trace } from "../code/trace.ts";
import { conditional, hostConditions, routeChain } from "../routing/route-chain.ts";
import { joinedTableCode, ROUTE_TABLE, routeTableCode } from "../routing/route-table.ts";
import type { MainNames, PortNames } from "./main-names.ts";
import type { TablePart } from "./table-part.ts";

/** Context of the functions of a port. */
export interface BindContext {
  readonly trace: Trace;
  readonly names: MainNames;
  readonly expressions: Expressions;
  /** Returns the path of a route's module, from `main.ts`: `./routes/tools.ts`. */
  readonly routePath: (route: string) => string;
  /** Returns the path of the module of a listener's policies, from `main.ts`: `./listeners/shop-policies.ts`. */
  readonly listenerPath: (policies: string) => string;
  /** Parts of long tables, by the ids of their listeners. */
  readonly tableParts: ReadonlyMap<string, readonly TablePart[]>;
}

/** Maximum number of conditions in a chain; for more of them, a lookup is faster. */
const MAX_CHAIN = 20;

/** Returns the handler of a port: its only listener if that accepts every name; otherwise the choice by host name. */
export function handlerOf(bind: BindNode, { listeners, ports }: MainNames): string {
  const [only] = bind.listeners;
  const found =
    bind.hostnames.length === 1 && only?.hostname === "*"
      ? listeners.get(only.id)
      : ports.get(bind.port);
  if (found === undefined) throw new Error(`port ${bind.port} has no name`);
  return found.handler;
}

/** Writes the functions of a port: one for each listener, and the choice between them. */
export function bindFunctions(bind: BindNode, context: BindContext): readonly Code[] {
  const { names } = context;
  const listeners = bind.listeners.flatMap((listener) =>
    listenerEntry(listener, pathStep(listener, bind), context),
  );
  if (handlerOf(bind, names) !== names.ports.get(bind.port)?.handler) return listeners;
  const choice = bind.tls === undefined ? plainChoice(bind, context) : secureChoice(bind, context);
  return [...listeners, ...choice];
}

/** Returns the listener whose certificate clients get that send no server name. */
export function defaultListener<Listener extends { readonly hostname: string }>(
  listeners: readonly Listener[],
): Listener | undefined {
  return listeners.find(({ hostname }) => hostname === "*") ?? listeners[0];
}

/** Writes the choice of a listener by the request's host name. */
function plainChoice(bind: BindNode, context: BindContext): readonly Code[] {
  const { handler } = portNames(bind, context);
  const head = code`function ${name(handler)}(exchange: ${exchangeType}): ${handledType} {`;
  if (bind.listeners.length > MAX_CHAIN) {
    const { declaration, find } = listenerTable(bind, context);
    return [
      declaration,
      code`
        ${head}
          const listener = ${find(code`exchange.hostname`)};
          if (listener === undefined) ${notFound}
          return listener(exchange);
        }
      `,
    ];
  }
  const choices = bind.listeners.map(({ id, hostname }) =>
    conditional(hostConditions(hostname), code`return ${handlerName(id, context)}(exchange);`),
  );
  return [
    code`
      ${context.trace(bind.origin)}
      ${head}
        const { hostname } = exchange;
        ${[...choices, ...(servesEveryName(bind) ? [] : [notFound])]}
      }
    `,
  ];
}

/** Writes the choice on a TLS port, where the request has to name the same listener as its connection. */
function secureChoice(bind: BindNode, context: BindContext): readonly Code[] {
  const isLong = bind.hostnames.length > MAX_CHAIN;
  const { declaration, find } = isLong
    ? listenerTable(bind, context)
    : listenerChain(bind, context);
  const { handler } = portNames(bind, context);
  const first = literal(defaultListener(bind.listeners)?.hostname ?? "*");
  return [
    declaration,
    code`
      function ${name(handler)}(exchange: ${exchangeType}): ${handledType} {
        const { hostname, serverName = ${first} } = exchange;
        const listener = ${find(code`hostname`)};
        if (listener !== ${find(code`serverName`)}) return ${misdirected}(exchange);
        ${servesEveryName(bind) && !isLong ? [] : code`if (listener === undefined) ${notFound}`}
        return listener(exchange);
      }
    `,
  ];
}

/** Code that finds the listener of a host name. */
interface ListenerChoice {
  readonly declaration: Code;
  readonly find: (hostname: Code) => Code;
}

function listenerTable(bind: BindNode, context: BindContext): ListenerChoice {
  const constant = name(portNames(bind, context).table);
  const rows = bind.hostnames.map(
    ({ hostname, listener }) => code`[${literal(hostname)}, ${handlerOfName(listener, context)}],`,
  );
  return {
    declaration: code`
      ${context.trace(bind.origin)}
      const ${constant}: ${importedType(HOST_TABLE, "HostTable")}<${handlerType}> = ${imported(HOST_TABLE, "hostTable")}([
        ${rows}
      ]);
    `,
    find: (hostname) => code`${imported(HOST_TABLE, "valueForHost")}(${constant}, ${hostname})`,
  };
}

function listenerChain(bind: BindNode, context: BindContext): ListenerChoice {
  const choose = name(portNames(bind, context).choice);
  const choices = bind.hostnames.map(({ hostname, listener }) =>
    conditional(hostConditions(hostname), code`return ${handlerOfName(listener, context)};`),
  );
  const isComplete = servesEveryName(bind);
  const type = isComplete ? handlerType : code`${handlerType} | undefined`;
  return {
    declaration: code`
      ${context.trace(bind.origin)}
      function ${choose}(hostname: string): ${type} {
        ${[...choices, ...(isComplete ? [] : [code`return undefined;`])]}
      }
    `,
    find: (hostname) => code`${choose}(${hostname})`,
  };
}

/** Writes the functions of a listener; its policies run first if it has any. */
function listenerEntry(
  listener: ListenerNode,
  first: readonly Code[],
  context: BindContext,
): readonly Code[] {
  const names = context.names.listeners.get(listener.id);
  if (names === undefined) throw new Error(`listener ${listener.id} has no name`);
  const { preRouting } = listener;
  if (preRouting === undefined) {
    return listenerCode(listener, names.handler, first, names.table, context);
  }
  const { id, isFinal } = preRouting;
  const run = imported(context.listenerPath(id), id);
  return [
    ...(isFinal ? [] : listenerCode(listener, names.router, [], names.table, context)),
    code`
      ${context.trace(preRouting.origin)}
      function ${name(names.handler)}(exchange: ${exchangeType}): ${handledType} {
        ${first}
        return ${run}(exchange${isFinal ? [] : code`, ${name(names.router)}`});
      }
    `,
  ];
}

/** Returns the first step of a listener, which treats the path, on a port where some listener keeps paths verbatim. */
function pathStep({ pathHandling }: ListenerNode, { listeners }: BindNode): readonly Code[] {
  const path = "gwc/runtime/http/routing/dispatch";
  if (pathHandling === "verbatim") return [code`${imported(path, "keepPath")}(exchange);`];
  if (listeners.every((each) => each.pathHandling === "canonical")) return [];
  return [code`if (${imported(path, "refuseAmbiguousPath")}(exchange)) return;`];
}

/** Writes the choice of a listener's route: a chain of conditions, or a lookup for many of them. */
function listenerCode(
  listener: ListenerNode,
  label: string,
  first: readonly Code[],
  tableName: string,
  context: BindContext,
): readonly Code[] {
  const routes = new Map(listener.routes.map((route) => [route.id, route.name]));
  const route = (entry: RouteEntry) => ({
    label: routes.get(entry.route) ?? entry.route,
    handler: code`${imported(context.routePath(entry.route), entry.route)}`,
  });
  const dispatch = imported("gwc/runtime/http/routing/dispatch", "dispatch");
  const head = code`function ${name(label)}(exchange: ${exchangeType}): ${handledType} {`;
  const isLong = listener.table.flatMap(({ entries }) => entries).length > MAX_CHAIN;
  if (isLong) {
    const table = name(tableName);
    const parts = context.tableParts.get(listener.id);
    return [
      code`
        ${context.trace(listener.origin)}
        ${
          parts === undefined
            ? routeTableCode(listener.table, tableName, { route, expressions: context.expressions })
            : joinedTableCode(
                parts.map((part) => imported(`./${part.path}`, part.name)),
                tableName,
              )
        }
      `,
      code`
        ${head}
          ${first}
          const target = ${imported(ROUTE_TABLE, "lookUp")}(${table}, exchange);
          if (target === undefined) ${notFound}
          return ${dispatch}(exchange, ${literal(listener.name)}, target.route, target.handler);
        }
      `,
    ];
  }
  const dispatchRoute = (entry: RouteEntry): Code => {
    const { label, handler } = route(entry);
    return code`return ${dispatch}(exchange, ${literal(listener.name)}, ${literal(label)}, ${handler});`;
  };
  const chain = routeChain(listener.table, dispatchRoute, context.expressions);
  const reads = join(chain.reads.map(name), ", ");
  return [
    code`
      ${context.trace(listener.origin)}
      ${head}
        ${first}
        ${chain.reads.length === 0 ? [] : code`const { ${reads} } = exchange;`}
        ${[...chain.statements, ...(chain.isComplete ? [] : [notFound])]}
      }
    `,
  ];
}

function portNames({ port }: BindNode, { names }: BindContext): PortNames {
  const found = names.ports.get(port);
  if (found === undefined) throw new Error(`port ${port} has no name`);
  return found;
}

function handlerName(id: string, { names }: BindContext): Name {
  return name(names.listeners.get(id)?.handler ?? id);
}

/**
 * Returns the handler for a host name. If its TLS is passed through, a request for it came on another name's
 * connection.
 */
function handlerOfName(listener: string | undefined, context: BindContext): Name | ImportSymbol {
  return listener === undefined ? misdirected : handlerName(listener, context);
}

function servesEveryName({ listeners }: BindNode): boolean {
  return listeners.some(({ hostname }) => hostname === "*");
}

const HOST_TABLE = "gwc/runtime/net/host-table";
const exchangeType = importedType("gwc/runtime/http/exchange", "Exchange");
const handlerType = importedType("gwc/runtime/http/exchange", "Handler");
const handledType = importedType("gwc/runtime/http/exchange", "Handled");
const misdirected = imported("gwc/runtime/http/refuse", "misdirected");
const notFound = code`return ${imported("gwc/runtime/http/refuse", "notFound")}(exchange);`;
