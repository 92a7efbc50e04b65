import type { RouteCount } from "../../../../runtime/gateway/live-figures.ts";
import type { ServerState } from "../../../../runtime/process/server-states.ts";
import type { BackendLine } from "../../../backends/backend.ts";
import { type BackendKind, backendOf } from "../../../backends/index.ts";
import type { BackendNode, TcpBackendNode } from "../../../ir/backends.ts";
import type { ListenerNode, RouteNode } from "../../../ir/program.ts";
import type { TcpListenerNode, TcpRouteNode } from "../../../ir/tcp.ts";
import type { RouteMatch } from "../../../model/matches.ts";
import { shownText } from "../../../model/texts.ts";
import { place } from "../places.ts";
import type { LiveView } from "../view.ts";
import type { BackendData, RouteData } from "./admin-api.ts";

/** Counts of all routes and states of all servers, read once for all routes. */
export interface RouteFigures {
  /** By listener and route. */
  readonly counts: ReadonlyMap<string, RouteCount>;
  /** By route. */
  readonly states: ReadonlyMap<string, readonly ServerState[]>;
}

/** Reads what routes share. */
export function routeFigures(view: Pick<LiveView, "routes" | "servers">): RouteFigures {
  const counts = view.routes().map((each) => [countKey(each.listener, each.route), each] as const);
  return { counts: new Map(counts), states: Map.groupBy(view.servers(), ({ route }) => route) };
}

function countKey(listener: string, route: string): string {
  return `${listener}\n${route}`;
}

/** Returns a route with its backends and figures, without its policies. */
export function routeData(
  route: RouteNode,
  listener: ListenerNode,
  { counts, states }: RouteFigures,
  view: LiveView,
): Omit<RouteData, "policies"> {
  const count = counts.get(countKey(listener.name, route.name));
  const own = states.get(route.name) ?? [];
  return {
    id: route.id,
    name: route.name,
    place: place(route.origin, view),
    code: view.current.routeModules.get(route.id) ?? "main.ts",
    matches: listener.table.flatMap(({ hostname, entries }) =>
      entries
        .filter((entry) => entry.route === route.id && !entry.match.isDerived)
        .map(({ match }) => requestPattern(hostname, match)),
    ),
    backends: route.backends.flatMap((node) => backendData(node, route.backends, own)),
    ...countsOf(count),
  };
}

/** Returns a route of connections, without its policies. */
export function connectionRouteData(
  route: TcpRouteNode,
  { table }: TcpListenerNode,
  view: LiveView,
): Omit<RouteData, "policies"> {
  const names = table.flatMap(({ hostname, route: id }) => (id === route.id ? hostname : []));
  return {
    id: route.id,
    name: route.name,
    place: place(route.origin, view),
    code: view.current.routeModules.get(route.id) ?? "main.ts",
    matches: names.map((name) => (name === "*" ? "any server name" : name)),
    backends: route.backends.flatMap((node) => {
      const line = tcpLine(node);
      return line === undefined ? [] : shownBackend(line, null, null);
    }),
    ...countsOf(undefined),
  };
}

function countsOf(
  count: RouteCount | undefined,
): Pick<RouteData, "requests" | "errors" | "refused" | "p50" | "p99"> {
  const { requests = 0, errors = 0, refused = [], p50 = 0, p99 = 0 } = count ?? {};
  const causes = Map.groupBy(refused, ({ status, reason }) => `${status} ${reason || "upstream"}`);
  return {
    requests,
    errors,
    refused: Array.from(causes, ([cause, each]) => ({
      cause,
      requests: each.reduce((sum, one) => sum + one.requests, 0),
    })),
    p50: requests === 0 ? null : p50 * 1000,
    p99: requests === 0 ? null : p99 * 1000,
  };
}

/** Formats a match for readers: `POST api.example.com/v1/* x-team: red`. */
function requestPattern(hostname: string, { path, method, headers, query }: RouteMatch): string {
  const valueText = ({ kind, value }: RouteMatch["headers"][number]["value"]) =>
    kind === "exact" ? value : `~${value}`;
  const host = hostname === "*" ? "" : hostname;
  const target = {
    exact: path.value,
    prefix: path.value === "/" ? "/*" : `${path.value}/*`,
    regex: `~ ${path.value}`,
  }[path.kind];
  return [
    ...(method === undefined ? [] : [method]),
    `${host}${target}`,
    ...headers.map(({ name, value }) => `${name}: ${valueText(value)}`),
    ...query.map(({ name, value }) => `?${name}=${valueText(value)}`),
  ].join(" ");
}

function backendData<Kind extends BackendKind>(
  node: BackendNode<Kind>,
  all: RouteNode["backends"],
  states: readonly ServerState[],
): readonly BackendData[] {
  const share = shareOf(node, all);
  return backendOf(node.kind)
    .describe(node)
    .map((line) => {
      const state = states.find(({ server }) => server === line.server);
      return shownBackend(line, share, state ?? null);
    });
}

function shownBackend(
  { label, address }: BackendLine,
  share: string | null,
  state: BackendData["state"],
): BackendData {
  return {
    label: label ?? null,
    address: address === undefined ? null : shownText(address),
    share,
    state: state && { isGood: state.isGood, text: state.text },
  };
}

/** The share of a route's requests that one of several backends takes. */
function shareOf(node: BackendNode, all: readonly BackendNode[]): string | null {
  if (all.length < 2) return null;
  const [own = 1, ...weights] = [node, ...all].map((each) => ("weight" in each ? each.weight : 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const percent = total === 0 ? 0 : Math.round((own / total) * 100);
  return `weight ${own}: ${percent} % of requests`;
}

function tcpLine<Kind extends BackendKind>(node: TcpBackendNode<Kind>): BackendLine | undefined {
  return backendOf<Kind>(node.kind).describeTcp?.(node);
}
