import { policiesMet } from "../../ir/access.ts";
import { servedTargets } from "../../ir/backend-text.ts";
import type { ListenerNode, Program, RouteEntry, RouteNode } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import type { DataPath } from "../effect/data/data-path.ts";
import { type Work, workOfCommand } from "../effect/work/work.ts";
import { chainVerdicts, type Identities, type PolicyVerdict } from "./chain-verdicts.ts";
import { headerReadings, type SentHeaders, worstAccess } from "./header-readings.ts";

/** What may be asked of an MCP server. */
export interface AskedItem {
  readonly kind: "tool" | "prompt" | "resource";
  /** As rules have it, or with the prefix of its server, as clients have it where there are several. */
  readonly name: string;
  /** The server; undefined: any of them. */
  readonly target: string | undefined;
}

/** Who asks, and what is known of them. */
export interface Asker {
  readonly identities: Identities;
  readonly headers: SentHeaders;
  /** Their address; undefined: it is open. */
  readonly address: string | undefined;
}

/** What the policies of a route do with a request for it. */
export interface RouteAccess {
  /** Undefined: no route takes it, and the listener's own policies alone are asked. */
  readonly route: RouteNode | undefined;
  readonly listener: ListenerNode;
  /** The server behind an MCP route. */
  readonly target?: string;
  readonly verdicts: readonly PolicyVerdict[];
}

/** What is read of what other servers say, and of bodies: open unless it is known. */
export const ALWAYS_OPEN: readonly DataPath[] = [
  ["extauthz"],
  ["extproc"],
  ["metadata"],
  ["env"],
  ["request", "body"],
  ["request", "startTime"],
  ["source", "port"],
  ["source", "subject"],
  ["source", "issuer"],
  ["source", "subjectCn"],
  ["source", "subjectAltNames"],
  ["source", "identity"],
];

const METHODS = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const;

/** Who may use an item, on each MCP route and each of its servers. */
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

/** The item of each server that is meant: of the one whose prefix it has, else of all. */
function itemsOf(item: AskedItem, targets: readonly string[]): readonly AskedItem[] {
  if (item.target !== undefined) return targets.includes(item.target) ? [item] : [];
  const joint = item.kind === "resource" ? "+" : "_";
  const owner = targets.find((target) => item.name.startsWith(`${target}${joint}`));
  if (targets.length === 1 || owner === undefined)
    return targets.map((target) => ({ ...item, target }));
  return [{ ...item, name: item.name.slice(owner.length + joint.length), target: owner }];
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

/** The first way to a route that its configuration names. */
export function routeEntry(
  route: RouteNode,
  { table }: ListenerNode,
): (RouteEntry & { readonly shared: string }) | undefined {
  return table
    .flatMap(({ shared, entries }) => entries.map((each) => ({ shared, ...each })))
    .find((each) => each.route === route.id && !each.match.isDerived);
}
