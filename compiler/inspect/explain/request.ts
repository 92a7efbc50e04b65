import { canonicalHost, SERVED_METHODS } from "../../../runtime/http/request-line.ts";
import { canonicalPath } from "../../../runtime/http/routing/path.ts";
import type { Checked } from "../../compile.ts";
import type { BindNode, ListenerNode, RouteNode } from "../../ir/program.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import type { RouteMatch } from "../../model/matches.ts";
import { coversHost, holderOf, matchesPath, matchesValue } from "../routing/match-request.ts";

/** The route that a request reaches, or the reason why it reaches no route. */
export type ReachedRoute =
  | {
      readonly kind: "route";
      readonly route: RouteNode;
      readonly listener: ListenerNode;
      /** The URL as routes and rules see it. */
      readonly seen: SeenUrl;
      /** The match that applies. */
      readonly match: RouteMatch;
      /** Matches of other routes that take precedence if the request has the headers that they require. */
      readonly earlier: readonly { readonly route: RouteNode; readonly match: RouteMatch }[];
    }
  | {
      readonly kind: "none";
      readonly reason: string;
      /** The listener without a matching route; absent if no listener matches. */
      readonly at?: { readonly listener: ListenerNode; readonly seen: SeenUrl };
    };

/** Headers of a request, by lower-case name. */
type Headers = Readonly<Record<string, string>>;

/** A URL in the canonical form that routes and rules see (runtime/http/routing). */
export interface SeenUrl {
  readonly hostname: string;
  /** Host with the port, unless it is the scheme's default. */
  readonly host: string;
  readonly path: string;
  /** `?a=b`, or empty. */
  readonly search: string;
}

/** Canonicalizes a URL for a listener; `undefined` if the listener refuses it as ambiguous. */
function seenUrl(url: URL, { pathHandling }: ListenerNode): SeenUrl | undefined {
  const host = canonicalHost(url.host);
  const path =
    canonicalPath(url.pathname) ??
    (pathHandling === "verbatim" ? canonicalPath(url.pathname, true) : undefined);
  if (host === undefined || path === undefined) return undefined;
  return { hostname: canonicalHost(url.hostname) ?? "", host, path, search: url.search };
}

/** Finds the route of a request. Without `headers`, conditions on headers count as unmet. */
export function reachedRoute(
  { programs }: Pick<Checked, "programs">,
  method: string,
  url: URL,
  headers?: Headers,
): ReachedRoute {
  // Methods are case-sensitive, and the gateway refuses others before any rule.
  if (!SERVED_METHODS.has(method))
    return { kind: "none", reason: `"${method}" is not an HTTP method: 400` };
  const all = programs.flatMap(({ binds }) => binds);
  const tcp = programs.flatMap((program) => program.tcp);
  const binds = bindsFor(all, url);
  if (binds.length === 0) {
    const port = portOf(url);
    const passing = tcp.find((each) => each.port === port);
    if (passing !== undefined) {
      const what = `port ${port} forwards connections without reading requests`;
      return { kind: "none", reason: `${what}; ${passedOn(passing, url.hostname)}` };
    }
    const ports = all.map((each) => each.port).join(", ");
    return { kind: "none", reason: `no listener has the port ${port}; existing ports: ${ports}` };
  }
  const hostname = canonicalHost(url.hostname);
  if (hostname === undefined) return { kind: "none", reason: "the host is not a valid name: 400" };
  let at: { readonly listener: ListenerNode; readonly seen: SeenUrl } | undefined;
  let passing: TcpBindNode | undefined;
  for (const bind of binds) {
    const listener = holderOf(bind, hostname);
    if (listener === "passedOn") passing ??= tcp.find(({ port }) => port === bind.port);
    if (listener === "passedOn" || listener === undefined) continue;
    const seen = seenUrl(url, listener);
    if (seen === undefined)
      return {
        kind: "none",
        reason: "its path is ambiguous, servers may read it differently: 400",
      };
    const found = routeOf(listener, method, url, seen, headers);
    if (found !== undefined) return { kind: "route", listener, seen, ...found };
    at ??= { listener, seen };
  }
  if (at === undefined && passing !== undefined) {
    const what = `port ${passing.port} forwards connections to ${hostname} without reading requests`;
    return { kind: "none", reason: `${what}; ${passedOn(passing, hostname)}` };
  }
  return { kind: "none", reason: "no route of the listener matches it: 404", ...(at && { at }) };
}

/** Describes where a TCP port forwards connections. */
function passedOn({ listeners }: TcpBindNode, hostname: string): string {
  const listener = listeners.find((each) => coversHost(each.hostname, hostname));
  const entry = listener?.table.find((each) => coversHost(each.hostname, hostname));
  const route = listener?.routes.find(({ id }) => id === entry?.route);
  if (route === undefined) return `connections to ${hostname} are closed`;
  return `connections to ${hostname} go to the route ${route.name}`;
}

/** Returns the binds for a URL. Without an explicit port, falls back to all binds of its scheme, since a load balancer may map ports. */
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

/** Finds the route of a listener for a request without query parameters; `undefined` if no route matches. */
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

/** Whether a request meets all conditions of a match except those on headers. */
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
