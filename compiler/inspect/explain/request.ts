import type { Checked } from "../../compile.ts";
import type { BindNode, ListenerNode, RouteNode } from "../../ir/program.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import type { RouteMatch } from "../../model/matches.ts";
import { coversHost, matchesPath, matchesValue } from "../routing/match-request.ts";

/** The route that a request reaches, or why it reaches none. */
export type ReachedRoute =
  | {
      readonly kind: "route";
      readonly route: RouteNode;
      readonly listener: ListenerNode;
      /** The conditions that it meets. */
      readonly match: RouteMatch;
      /** Those of other routes that it would meet before, had it their headers. */
      readonly earlier: readonly { readonly route: RouteNode; readonly match: RouteMatch }[];
    }
  | { readonly kind: "none"; readonly reason: string };

/** The headers of a request, by lower-case name. */
type Headers = Readonly<Record<string, string>>;

/** Which route answers METHOD URL. Without `headers` it has none to show: conditions on them count as unmet. */
export function reachedRoute(
  { programs }: Pick<Checked, "programs">,
  method: string,
  url: URL,
  headers?: Headers,
): ReachedRoute {
  const all = programs.flatMap(({ binds }) => binds);
  const binds = bindsFor(all, url);
  if (binds.length === 0) {
    const port = portOf(url);
    const passing = programs.flatMap(({ tcp }) => tcp).find((each) => each.port === port);
    if (passing !== undefined) return { kind: "none", reason: passedOn(passing, url.hostname) };
    const ports = all.map((each) => each.port).join(", ");
    return { kind: "none", reason: `no listener has the port ${port}; there is ${ports}` };
  }
  const hostname = url.hostname.toLowerCase();
  for (const bind of binds) {
    const listener = bind.listeners.find((each) => coversHost(each.hostname, hostname));
    if (listener === undefined) continue;
    const found = routeOf(listener, method, url, headers);
    if (found !== undefined) return { kind: "route", listener, ...found };
  }
  return { kind: "none", reason: "no route of the listener matches it: 404" };
}

/** What becomes of a connection to a port that answers no requests. */
function passedOn({ port, listeners }: TcpBindNode, hostname: string): string {
  const listener = listeners.find((each) => coversHost(each.hostname, hostname));
  const entry = listener?.table.find((each) => coversHost(each.hostname, hostname));
  const route = listener?.routes.find(({ id }) => id === entry?.route);
  const what = `port ${port} passes connections on and answers no requests`;
  if (route === undefined) return `${what}; it closes those to ${hostname}`;
  return `${what}; those to ${hostname} go to the route ${route.name}`;
}

/** A URL without a port means the usual one, or else those of its scheme: a load balancer in front may have another. */
export function bindsFor(binds: readonly BindNode[], url: URL): readonly BindNode[] {
  const isTls = url.protocol === "https:";
  const port = portOf(url);
  const exact = binds.filter((bind) => bind.port === port);
  if (exact.length > 0 || url.port !== "") return exact;
  const alike = binds.filter((bind) => (bind.tls !== undefined) === isTls);
  return alike.length > 0 ? alike : binds;
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function routeOf(
  { table, routes }: ListenerNode,
  method: string,
  url: URL,
  headers: Headers | undefined,
): Omit<Extract<ReachedRoute, { kind: "route" }>, "kind" | "listener"> | undefined {
  const hostname = url.hostname.toLowerCase();
  const earlier: { route: RouteNode; match: RouteMatch }[] = [];
  for (const host of table) {
    if (!coversHost(host.hostname, hostname)) continue;
    for (const { match, route: id } of host.entries) {
      const route = routes.find((each) => each.id === id);
      if (route === undefined || !matches(match, method, url)) continue;
      const areMet = match.headers.every((each) => matchesValue(each, headers?.[each.name]));
      if (areMet) return { route, match, earlier };
      if (headers === undefined) earlier.push({ route, match });
    }
  }
  return undefined;
}

/** Whether all but the headers is as a match asks. */
function matches(match: RouteMatch, method: string, url: URL): boolean {
  return (
    (match.method === undefined || match.method === method) &&
    matchesPath(match.path, url.pathname) &&
    match.query.every((each) => matchesValue(each, url.searchParams.get(each.name) ?? undefined))
  );
}
