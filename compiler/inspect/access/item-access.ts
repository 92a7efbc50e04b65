import { toolSets } from "../../backends/index.ts";
import { policiesMet } from "../../ir/access.ts";
import { servedTargets } from "../../ir/backend-text.ts";
import type { BackendNode } from "../../ir/backends.ts";
import type { ListenerNode, Program, RouteEntry, RouteNode } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { itemPrefix } from "../../model/item-prefix.ts";
import type { SetTool, ToolSet } from "../../model/tool-sets.ts";
import type { DataPath } from "../effect/data/data-path.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { chainVerdicts, type Identities, type PolicyVerdict } from "./chain-verdicts.ts";
import { headerReadings, type SentHeaders, worstAccess } from "./header-readings.ts";

/** An item of an MCP server that is asked about. */
export interface AskedItem {
  readonly kind: "tool" | "prompt" | "resource";
  /** Name as in rules, or with the prefix of its server, as clients see it if there are several servers. */
  readonly name: string;
  /** Server; `undefined` for any. */
  readonly target: string | undefined;
}

/** Sender of the request that is asked about. */
export interface Asker {
  readonly identities: Identities;
  readonly headers: SentHeaders;
  /** Client address; `undefined` if it is open. */
  readonly address: string | undefined;
}

/** Verdicts of the policies of a route. */
export interface RouteAccess {
  /** Route; `undefined` if no route matches, so that only the listener's policies decide. */
  readonly route: RouteNode | undefined;
  readonly listener: ListenerNode;
  /** The server behind an MCP route. */
  readonly target?: string;
  /** The view in which clients see the tool by this name; absent outside of views. */
  readonly view?: string;
  readonly verdicts: readonly PolicyVerdict[];
}

/** Data from other servers and bodies, which is open unless it is given. */
export const ALWAYS_OPEN: readonly DataPath[] = [
  ["extauthz"],
  ["extproc"],
  ["metadata"],
  ["custom"],
  ["env"],
  ["request", "body"],
  ["request", "startTime"],
  ["mcp", "tool", "arguments"],
  ["source", "port"],
  ["source", "subject"],
  ["source", "issuer"],
  ["source", "subjectCn"],
  ["source", "subjectAltNames"],
  ["source", "identity"],
];

const METHODS = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;

/** Returns the access to an item on each MCP route and server. */
export function itemAccess(
  program: Program,
  item: AskedItem,
  asker: Asker,
  routeName: string | undefined,
): readonly RouteAccess[] {
  const work = workOfCommand();
  return servedRoutes(program)
    .filter(({ route }) => routeName === undefined || [route.name, route.id].includes(routeName))
    .flatMap(({ route, listeners: [listener] }) => {
      if (listener === undefined) return [];
      const asked = route.backends.flatMap((node) => itemsOf(item, node));
      const once = asked.filter(
        (one, at) => asked.findIndex((each) => isSameItem(each, one)) === at,
      );
      return once.flatMap((each) => {
        const readings = headerReadings(asker.headers) ?? [];
        const found = readings.map((headers) =>
          accessTo(route, listener, each, { ...asker, headers }, work),
        );
        return worstAccess(found, ({ verdicts }) => verdicts) ?? [];
      });
    });
}

/** An item of a server as a client reaches it. */
interface ReachedItem extends AskedItem {
  /** `undefined` outside of views. */
  readonly view?: string | undefined;
  /** Arguments that clients do not choose; a value of `undefined` is absent in calls. */
  readonly fixed?: Readonly<Record<string, unknown>>;
}

function isSameItem(one: ReachedItem, other: ReachedItem): boolean {
  return one.target === other.target && one.view === other.view && one.name === other.name;
}

/** Resolves an item: to the tools that clients see by this name, else by the names of servers. */
function itemsOf(item: AskedItem, node: BackendNode): readonly ReachedItem[] {
  const targets = servedTargets(node);
  const isMeant = ({ name, target }: SetTool): boolean =>
    name === item.name && target === (item.target ?? target) && targets.includes(target);
  const shown = toolSets(node).flatMap((set) =>
    item.kind === "tool" ? set.tools.filter(isMeant).map((tool) => reachedTool(set, tool)) : [],
  );
  // Rules have the servers' names, which may be those of a view as well.
  return [...shown, ...serverItems(item, targets)];
}

/** Returns a tool of a view, or one that is changed outside of views. */
function reachedTool({ view }: ToolSet, { target, tool, set, hide }: SetTool): ReachedItem {
  const hidden = Object.fromEntries(hide.map((name) => [name, undefined]));
  return { kind: "tool", name: tool, target, view, fixed: { ...hidden, ...set } };
}

/** Resolves a name of rules, or one with a server's prefix; without one, the item may be of any server. */
function serverItems(item: AskedItem, targets: readonly string[]): readonly AskedItem[] {
  if (item.target !== undefined) return targets.includes(item.target) ? [item] : [];
  const prefix = (target: string): string => itemPrefix(target, item.kind);
  const owner = targets.find((target) => item.name.startsWith(prefix(target)));
  if (targets.length === 1 || owner === undefined)
    return targets.map((target) => ({ ...item, target }));
  return [{ ...item, name: item.name.slice(prefix(owner).length), target: owner }];
}

function accessTo(
  route: RouteNode,
  listener: ListenerNode,
  { kind, name, target, view, fixed = {} }: ReachedItem,
  { identities, headers, address }: Asker,
  work: Work,
): RouteAccess {
  const entry = routeEntry(route, listener);
  const path = entry?.match.path;
  const host = entry?.shared ?? "*";
  const data = {
    request: {
      method: "POST",
      host: host.replace("*", "any"),
      path: view === undefined ? (path?.value ?? "/") : pathOfView(path?.value ?? "/", view),
      headers,
    },
    source: { address },
    mcp: {
      methodName: METHODS[kind],
      [kind]: { name, target, ...(Object.keys(fixed).length > 0 && { arguments: fixed }) },
    },
  };
  const open: readonly DataPath[] = [
    ...ALWAYS_OPEN,
    ...(identities.isAnyone ? [["source"], ["request", "headers"]] : []),
    ...(address === undefined ? [["source", "address"]] : []),
    ...(host.includes("*") ? [["request", "host"]] : []),
    ...(path?.kind === "exact" || view !== undefined ? [] : [["request", "path"]]),
  ];
  const known = Object.keys(fixed).map((argument) => ["mcp", "tool", "arguments", argument]);
  const policies = policiesMet(listener, route);
  const request = { data, open, present: [], fixed: known };
  const verdicts = chainVerdicts(policies, request, identities, work);
  return {
    ...{ route, listener, verdicts },
    ...(target !== undefined && { target }),
    ...(view !== undefined && { view }),
  };
}

/** Returns the path of a view below that of its route. */
export function pathOfView(path: string, view: string): string {
  return path.endsWith(`/${view}`) ? path : `${path.replace(/\/$/, "")}/${view}`;
}

/** Returns the access of anyone to each tool of the views of a route. */
export function viewAccess(
  route: RouteNode,
  listener: ListenerNode,
  work: Work,
): readonly ViewToolAccess[] {
  return route.backends.flatMap((node) =>
    toolSets(node).flatMap((set) =>
      set.tools.map((tool) => {
        const { verdicts } = accessTo(route, listener, reachedTool(set, tool), ANYONE, work);
        return { set, tool, verdicts };
      }),
    ),
  );
}

/** A tool of a view, and the verdicts of the route's policies on calls of it. */
export interface ViewToolAccess {
  readonly set: ToolSet;
  readonly tool: SetTool;
  readonly verdicts: readonly PolicyVerdict[];
}

/** A sender who may have any valid credentials. */
export const ANYONE: Asker = {
  identities: { given: {}, isAnyone: true },
  headers: {},
  address: undefined,
};

/** Returns the first table entry of a route that its configuration defines. */
export function routeEntry(
  route: RouteNode,
  { table }: ListenerNode,
): (RouteEntry & { readonly shared: string }) | undefined {
  return table
    .flatMap(({ shared, entries }) => entries.map((each) => ({ shared, ...each })))
    .find((each) => each.route === route.id && !each.match.isDerived);
}
