import { canonicalHost, SERVED_METHODS } from "../../../runtime/http/request-line.ts";
import { canonicalPath } from "../../../runtime/http/routing/path.ts";
import type { Checked } from "../../compile.ts";
import type { BindNode, ListenerNode, RouteNode } from "../../ir/program.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import type { RouteMatch } from "../../model/matches.ts";
import { coversHost, holderOf, matchesPath, matchesValue } from "../routing/match-request.ts";

/** The route that a request reaches, or why it reaches none. */
export type ReachedRoute =
  | {
      readonly kind: "route";
      readonly route: RouteNode;
      readonly listener: ListenerNode;
      /** The URL as routes and rules see it. */
      readonly seen: SeenUrl;
      /** The conditions that it meets. */
      readonly match: RouteMatch;
      /** Those of other routes that it would meet before, had it their headers. */
      readonly earlier: readonly { readonly route: RouteNode; readonly match: RouteMatch }[];
    }
  | {
      readonly kind: "none";
      readonly reason: string;
      /** The listener that has no route for it; absent: none takes it. */
      readonly at?: { readonly listener: ListenerNode; readonly seen: SeenUrl };
    };

/** The headers of a request, by lower-case name. */
type Headers = Readonly<Record<string, string>>;

/** A URL in the one form that routes and rules see (runtime/http/routing). */
export interface SeenUrl {
  readonly hostname: string;
  /** With the port, where it is not the scheme's own. */
  readonly host: string;
  readonly path: string;
  /** `?a=b`, or empty. */
  readonly search: string;
}

/** A listener's form of a URL; undefined: it refuses the request, which two servers could read differently. */
function seenUrl(url: URL, { pathHandling }: ListenerNode): SeenUrl | undefined {
  const host = canonicalHost(url.host);
  const path =
    canonicalPath(url.pathname) ??
    (pathHandling === "verbatim" ? canonicalPath(url.pathname, true) : undefined);
  if (host === undefined || path === undefined) return undefined;
  return { hostname: canonicalHost(url.hostname) ?? "", host, path, search: url.search };
}

/** Which route answers METHOD URL. Without `headers` it has none to show: conditions on them count as unmet. */
export function reachedRoute(
  { programs }: Pick<Checked, "programs">,
  method: string,
  url: URL,
  headers?: Headers,
): ReachedRoute {
  // Methods are case-sensitive, and the gateway asks no rule about others.
  if (!SERVED_METHODS.has(method))
    return { kind: "none", reason: `"${method}" is no method of HTTP: 400` };
  const all = programs.flatMap(({ binds }) => binds);
  const tcp = programs.flatMap((program) => program.tcp);
  const binds = bindsFor(all, url);
  if (binds.length === 0) {
    const port = portOf(url);
    const passing = tcp.find((each) => each.port === port);
    if (passing !== undefined) {
      const what = `port ${port} passes connections on and answers no requests`;
      return { kind: "none", reason: `${what}; ${passedOn(passing, url.hostname)}` };
    }
    const ports = all.map((each) => each.port).join(", ");
    return { kind: "none", reason: `no listener has the port ${port}; there is ${ports}` };
  }
  const hostname = canonicalHost(url.hostname);
  if (hostname === undefined) return { kind: "none", reason: `no server has such a name: 400` };
  let at: { readonly listener: ListenerNode; readonly seen: SeenUrl } | undefined;
  let passing: TcpBindNode | undefined;
  for (const bind of binds) {
    const listener = holderOf(bind, hostname);
    if (listener === "passedOn") passing ??= tcp.find(({ port }) => port === bind.port);
    if (listener === "passedOn" || listener === undefined) continue;
    const seen = seenUrl(url, listener);
    if (seen === undefined)
      return { kind: "none", reason: "two servers could read its path differently: 400" };
    const found = routeOf(listener, method, url, seen, headers);
    if (found !== undefined) return { kind: "route", listener, seen, ...found };
    at ??= { listener, seen };
  }
  if (at === undefined && passing !== undefined) {
    const what = `port ${passing.port} passes connections to ${hostname} on and answers none of its requests`;
    return { kind: "none", reason: `${what}; ${passedOn(passing, hostname)}` };
  }
  return { kind: "none", reason: "no route of the listener matches it: 404", ...(at && { at }) };
}

/** What becomes of a connection to a port that answers no requests. */
function passedOn({ listeners }: TcpBindNode, hostname: string): string {
  const listener = listeners.find((each) => coversHost(each.hostname, hostname));
  const entry = listener?.table.find((each) => coversHost(each.hostname, hostname));
  const route = listener?.routes.find(({ id }) => id === entry?.route);
  if (route === undefined) return `it closes those to ${hostname}`;
  return `those to ${hostname} go to the route ${route.name}`;
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

/** The route of a listener that a request without parameters reaches; undefined: none. */
export function routeAt(
  listener: ListenerNode,
  method: string,
  seen: Pick<SeenUrl, "hostname" | "path">,
  headers: Headers,
): RouteNode | undefined {
  return routeOf(listener, method, { searchParams: new URLSearchParams() }, seen, headers)?.route;
}

function routeOf(
  { table, routes }: ListenerNode,
  method: string,
  { searchParams }: Pick<URL, "searchParams">,
  { hostname, path }: Pick<SeenUrl, "hostname" | "path">,
  headers: Headers | undefined,
): Pick<Extract<ReachedRoute, { kind: "route" }>, "route" | "match" | "earlier"> | undefined {
  const earlier: { route: RouteNode; match: RouteMatch }[] = [];
  for (const host of table) {
    if (!coversHost(host.hostname, hostname)) continue;
    for (const { match, route: id } of host.entries) {
      const route = routes.find((each) => each.id === id);
      if (route === undefined || !matches(match, method, path, searchParams)) continue;
      const areMet = match.headers.every((each) => matchesValue(each, headers?.[each.name]));
      if (areMet) return { route, match, earlier };
      if (headers === undefined) earlier.push({ route, match });
    }
  }
  return undefined;
}

/** Whether all but the headers is as a match asks. */
function matches(
  match: RouteMatch,
  method: string,
  path: string,
  parameters: URLSearchParams,
): boolean {
  return (
    (match.method === undefined || match.method === method) &&
    matchesPath(match.path, path) &&
    match.query.every((each) => matchesValue(each, parameters.get(each.name) ?? undefined))
  );
}
