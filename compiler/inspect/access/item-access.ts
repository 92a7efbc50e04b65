import { policiesMet } from "../../ir/access.ts";
import { servedTargets } from "../../ir/backend-text.ts";
import type { ListenerNode, Program, RouteEntry, RouteNode } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { itemPrefix } from "../../model/item-prefix.ts";
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
      const asked = route.backends.flatMap((node) => itemsOf(item, servedTargets(node)));
      const once = asked.filter(
        ({ target }, at) => asked.findIndex((each) => each.target === target) === at,
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

/** Resolves an item: to the server whose prefix its name has, else to all servers. */
function itemsOf(item: AskedItem, targets: readonly string[]): readonly AskedItem[] {
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
  { kind, name, target }: AskedItem,
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
      path: path?.value ?? "/",
      headers,
    },
    source: { address },
    mcp: { methodName: METHODS[kind], [kind]: { name, target } },
  };
  const open: readonly DataPath[] = [
    ...ALWAYS_OPEN,
    ...(identities.isAnyone ? [["source"], ["request", "headers"]] : []),
    ...(address === undefined ? [["source", "address"]] : []),
    ...(host.includes("*") ? [["request", "host"]] : []),
    ...(path?.kind === "exact" ? [] : [["request", "path"]]),
  ];
  const policies = policiesMet(listener, route);
  const verdicts = chainVerdicts(policies, { data, open, present: [] }, identities, work);
  return target === undefined
    ? { route, listener, verdicts }
    : { route, listener, target, verdicts };
}

/** Returns the first table entry of a route that its configuration defines. */
export function routeEntry(
  route: RouteNode,
  { table }: ListenerNode,
): (RouteEntry & { readonly shared: string }) | undefined {
  return table
    .flatMap(({ shared, entries }) => entries.map((each) => ({ shared, ...each })))
    .find((each) => each.route === route.id && !each.match.isDerived);
}
