import { literalPattern } from "../../model/literal-pattern.ts";
import type { Directive, TakenDirectives } from "../directives/directive.ts";
import {
  closed,
  closedRoute,
  type DraftFields,
  type DraftMatch,
  type RouteDraft,
  type SiteDraft,
} from "../proxy/route-draft.ts";
import { plainText } from "../proxy/texts.ts";
import {
  locationsOf,
  type NginxLocation,
  type NginxServerContext,
  routeOf,
} from "./nginx-location.ts";
import { headersPart } from "./nginx-policies.ts";
import { returnPolicies } from "./nginx-return.ts";
import { NginxScope } from "./nginx-scope.ts";

/** A `server` on one of its ports. */
export interface NginxSite extends SiteDraft {
  /** Whether `listen` has `default_server`. */
  readonly isDefaultServer: boolean;
}

/** Converts a `server` of nginx to a site for each of its ports. */
export function sitesOf(
  server: Directive,
  http: NginxScope,
  upstreams: readonly Directive[],
  taken: TakenDirectives,
): readonly NginxSite[] {
  taken.take(server, "alone");
  const scope = new NginxScope(server.block ?? [], http, taken);
  const notes: string[] = [];
  const hostnames = hostnamesOf(scope, notes, taken);
  const listens = scope.own("listen");
  const ports =
    listens.length === 0 ? [{ port: 80 }] : listens.flatMap((each) => listenOf(each) ?? []);
  for (const each of listens)
    if (listenOf(each) === undefined)
      notes.push(`${taken.place(each)}: listen ${each.words.join(" ")} is skipped`);
  const zones = http.own("limit_req_zone");
  const redirected = scope.own("if").map(hostCondition);
  const seen = new Set<string>();
  return ports.flatMap((each) => {
    const key = `${each.port} ${each.address ?? ""}`;
    if (seen.has(key)) return [];
    seen.add(key);
    const names = { serverName: hostnames[0], port: each.port };
    const tls = each.isSecure === true ? tlsOf(scope, notes, taken.place(server)) : undefined;
    const routes = routesOf(scope, { names, upstreams, zones, taken }, server);
    const isBare = each.isSecure === true && tls === undefined;
    const site: NginxSite = {
      port: each.port,
      address: each.address,
      hostnames: hostnames.filter((host) => !redirected.includes(host)),
      isDefault: false,
      isDefaultServer: each.isDefault === true,
      isProxied: each.isProxied === true,
      tls: isBare ? NO_KEY : tls,
      routes: [...routes],
      notes: [...new Set(notes)],
    };
    return [site, ...redirectedHosts(scope, site, taken)];
  });
}

const NO_KEY = { cert: "certs/server.crt", key: "certs/server.key" };

interface Listen {
  readonly port: number;
  readonly address?: string | undefined;
  readonly isSecure?: boolean;
  readonly isDefault?: boolean;
  readonly isProxied?: boolean;
}

function listenOf({ words: [where = "", ...options] }: Directive): Listen | undefined {
  if (options.includes("quic") || where.startsWith("unix:")) return undefined;
  const [, host = "", port = "80"] =
    /^(?:(\[[0-9a-f:]+\]|[\w.*-]*?):)?(\d+)$/i.exec(where) ??
    (/^\d+$/.test(where) ? [] : ["", where]);
  if (!/^\d+$/.test(port)) return undefined;
  const name = host.replace(/^\[|\]$/g, "");
  const isAny = ["", "*", "0.0.0.0", "::"].includes(name);
  const address = name === "localhost" ? "127.0.0.1" : name;
  return {
    port: Number(port),
    address: isAny ? undefined : address,
    isSecure: options.includes("ssl"),
    isDefault: options.includes("default_server") || options.includes("default"),
    isProxied: options.includes("proxy_protocol"),
  };
}

function hostnamesOf(
  scope: NginxScope,
  notes: string[],
  taken: TakenDirectives,
): readonly string[] {
  return scope.own("server_name").flatMap((directive) =>
    directive.words.flatMap((word) => {
      if (word === "_" || word === "") return [];
      if (/^\.[\w.-]+$/.test(word)) return [word.slice(1), `*${word}`];
      if (/^(\*\.)?[a-z0-9.-]+$/i.test(word)) return [word.toLowerCase()];
      notes.push(
        `${taken.place(directive)}: the host ${word} is skipped: gwc supports only names and *. prefixes`,
      );
      return [];
    }),
  );
}

function tlsOf(scope: NginxScope, notes: string[], place: string): DraftFields | undefined {
  const [cert, key] = [scope.word("ssl_certificate"), scope.word("ssl_certificate_key")];
  const root = scope.word("ssl_client_certificate");
  const verify = scope.word("ssl_verify_client");
  const versions = scope.all("ssl_protocols").flatMap(({ words }) => words);
  if (versions.some((each) => /^(SSLv|TLSv1$|TLSv1\.1)/.test(each)))
    notes.push(`${place}: gwc supports TLS 1.2 and 1.3 only`);
  if (cert === undefined || key === undefined) {
    notes.push(`${place}: the server has no certificate: set cert and key`);
    return undefined;
  }
  return {
    cert: plainText(cert),
    key: plainText(key),
    ...(verify === "on" && root !== undefined && { root: plainText(root) }),
    ...(versions.length > 0 &&
      !versions.includes("TLSv1.2") &&
      versions.includes("TLSv1.3") && {
        minTLSVersion: "1.3",
      }),
  };
}

/** Returns the routes of a server. They cover every path, so that no request reaches the routes of another server. */
function routesOf(
  scope: NginxScope,
  context: NginxServerContext,
  server: Directive,
): readonly RouteDraft[] {
  const { taken, names } = context;
  const place = taken.place(server);
  const ifs = scope.own("if").filter((each) => hostCondition(each) === undefined);
  const verify = scope.word("ssl_verify_client");
  if (verify !== undefined && !["on", "off"].includes(verify))
    return [closedRoute("all", [ALL], `${place}: ssl_verify_client ${verify}`)];
  if (ifs.length > 0) return [closedRoute("all", [ALL], `${place}: conditions (if)`)];
  const [response] = scope.own("return");
  if (response !== undefined) {
    const type = scope.word("default_type") ?? "text/plain";
    const policies = returnPolicies(response, type, names);
    const { responseHeaderModifier } = headersPart(scope, names, (each) =>
      taken.place(each),
    ).policies;
    if (policies === undefined)
      return [
        closedRoute("all", [ALL], `${taken.place(response)}: return ${response.words.join(" ")}`),
      ];
    const own = {
      ...policies,
      ...(responseHeaderModifier !== undefined && { responseHeaderModifier }),
    };
    return [{ name: "all", matches: [ALL], policies: own, backends: [], notes: [] }];
  }
  const locations = locationsOf(scope, taken);
  if (typeof locations === "string") return [closedRoute("all", [ALL], locations)];
  const routes = matched(locations).flatMap(({ location, matches }) => {
    const route = routeOf(location, matches, context);
    const before = "regex locations that take precedence in nginx would not take precedence";
    const own = isOvertaking(location, locations) ? closed(route, before) : route;
    return [own, ...withSlash(location, locations, context)];
  });
  if (locations.some(({ kind, value }) => value === "/" && kind !== "exact")) return routes;
  const hasPattern = locations.some(({ kind }) => kind === "regex");
  const rest: DraftMatch = hasPattern ? { path: { kind: "regex", value: ".*" } } : ALL;
  return [
    ...routes,
    closedRoute("files", [rest], `${place}: nginx serves files for all other paths`),
  ];
}

const ALL: DraftMatch = { path: { kind: "prefix", value: "/" } };

/**
 * Returns the match of each location. gwc ranks prefixes above patterns, and longer patterns above shorter ones. If nginx
 * has patterns, prefixes become patterns too, and patterns are padded with `(?:)` until their lengths reflect nginx's order.
 */
function matched(
  locations: readonly NginxLocation[],
): readonly { readonly location: NginxLocation; readonly matches: readonly DraftMatch[] }[] {
  const hasPattern = locations.some(({ kind }) => kind === "regex");
  const patterns = locations.filter(({ kind }) => kind === "regex");
  const prefixes = locations
    .filter(({ kind }) => kind === "prefix")
    .toSorted((a, b) => b.value.length - a.value.length);
  const ordered = hasPattern ? [...patterns, ...prefixes] : [];
  const filled = new Map<NginxLocation, string>();
  let least = 3;
  for (const each of ordered.toReversed()) {
    let text = each.kind === "regex" ? each.value : `${literalPattern(each.value)}.*`;
    while (text.length < least) text += "(?:)";
    least = text.length;
    filled.set(each, text);
  }
  return locations.map((location) => {
    const { kind, value } = location;
    const pattern = filled.get(location);
    if (pattern !== undefined && !isOvertaking(location, locations))
      return { location, matches: [{ path: { kind: "regex", value: plainText(pattern) } }] };
    const prefix = value === "/" ? value : value.replace(/\/$/, "");
    const path: DraftMatch["path"] =
      kind === "exact"
        ? { kind, value: plainText(value) }
        : { kind: "prefix", value: plainText(prefix) };
    return { location, matches: [{ path }] };
  });
}

/** Whether a location is below one with `^~`, which skips regex locations, although it does not skip them itself. */
function isOvertaking({ kind, value }: NginxLocation, all: readonly NginxLocation[]): boolean {
  return (
    kind === "prefix" &&
    all.some((each) => each.kind === "first" && value.startsWith(each.value)) &&
    all.some((each) => each.kind === "regex")
  );
}

/** Returns a route for `/a` if the location is `/a/`: nginx redirects if the location proxies, else uses another location. */
function withSlash(
  { kind, value, scope }: NginxLocation,
  locations: readonly NginxLocation[],
  context: NginxServerContext,
): readonly RouteDraft[] {
  if (!["prefix", "first"].includes(kind) || value === "/" || !value.endsWith("/")) return [];
  const path = value.slice(0, -1);
  const isElsewhere = locations.some((each) => each.value === path && each.kind !== "regex");
  if (isElsewhere && locations.some((each) => each.value === path && each.kind === "exact"))
    return [];
  const matches: readonly DraftMatch[] = [{ path: { kind: "exact", value: plainText(path) } }];
  if (!isElsewhere && scope.own("proxy_pass").length > 0) {
    const { responseHeaderModifier } = headersPart(scope, context.names, (each) =>
      context.taken.place(each),
    ).policies;
    const policies = {
      ...(responseHeaderModifier !== undefined && { responseHeaderModifier }),
      requestRedirect: { path: { full: plainText(value) }, status: 301 },
    };
    return [{ name: path, matches, policies, backends: [], notes: [] }];
  }
  if (locations.some((each) => each.kind === "regex")) return [];
  const [other] = locations
    .filter((each) => ["prefix", "first"].includes(each.kind) && path.startsWith(each.value))
    .toSorted((a, b) => b.value.length - a.value.length);
  if (other === undefined) return [];
  return [{ ...routeOf(other, matches, context), name: path }];
}

/** Returns sites for hosts that a server redirects by `if ($host = a.example.com)`, as certbot writes it. */
function redirectedHosts(
  scope: NginxScope,
  site: NginxSite,
  taken: TakenDirectives,
): readonly NginxSite[] {
  return scope.own("if").flatMap((each) => {
    const host = hostCondition(each);
    const [response] = each.block ?? [];
    if (host === undefined || response === undefined) return [];
    const names = { serverName: host, port: site.port };
    const policies = returnPolicies(response, "text/plain", names);
    const route =
      policies === undefined
        ? closedRoute("all", [ALL], `${taken.place(response)}: return ${response.words.join(" ")}`)
        : { name: "all", matches: [ALL], policies, backends: [], notes: [] };
    return [{ ...site, hostnames: [host], isDefaultServer: false, routes: [route], notes: [] }];
  });
}

/** Returns the host of an `if` block that contains only `return`. */
function hostCondition({ words, block = [] }: Directive): string | undefined {
  const [, host] = /^\(\s*\$host\s*=\s*([a-z0-9.-]+)\s*\)$/.exec(words.join(" ")) ?? [];
  return block.length === 1 && block[0]?.name === "return" ? host : undefined;
}
