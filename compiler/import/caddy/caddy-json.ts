import { isWrittenExpression } from "../../cel/written-expression.ts";
import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft } from "../imported-text.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import type { OrderedMatch } from "../proxy/ordered-routes.ts";
import { type DraftFields, FORWARDED, merged, type SiteDraft } from "../proxy/route-draft.ts";
import { siteFile } from "../proxy/site-file.ts";
import { celText } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";
import { sitesOfRoutes } from "./caddy-sites.ts";
import type { CaddyRoute, CaddyStep } from "./caddy-steps.ts";
import {
  caddyPath,
  caddyText,
  caddyVariables,
  type HeaderChange,
  redirectPolicies,
  requestHeaderPolicies,
  responseHeaderPolicies,
} from "./caddy-values.ts";

/** Converts the JSON configuration of Caddy; returns the reason as a string if that is impossible. */
export function importCaddyJson(source: SourceFields): ImportDraft | string {
  const root = withVariables(source.value);
  const http = fieldsIn(fieldsIn(fieldsIn(root).apps).http);
  const servers = Object.entries(fieldsIn(http.servers));
  if (servers.length === 0) return "has no server under apps.http.servers";
  const sites = servers.flatMap(([name, value]) =>
    serverSites(fieldsIn(value), ["apps", "http", "servers", name], source),
  );
  if (sites.length === 0) return "has no server with a port that gwc can open";
  return siteFile(sites, []);
}

function withVariables(value: unknown): unknown {
  if (typeof value === "string") return caddyVariables(value);
  if (Array.isArray(value)) return value.map(withVariables);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withVariables(each)]));
}

/** Splits a server into one site per host in its routes, plus a site for all other hosts. */
function serverSites(
  server: DraftFields,
  at: ConfigPath,
  source: SourceFields,
): readonly SiteDraft[] {
  const ports = textsIn(server.listen).flatMap((each) => /:(\d+)$/.exec(each)?.[1] ?? []);
  source.take(...at, "listen");
  const auto = fieldsIn(server.automatic_https);
  const isSecure =
    server.tls_connection_policies !== undefined ||
    (ports.includes("443") && auto.disable !== true);
  const routes = listIn(server.routes).map((each, index) => ({
    value: fieldsIn(each),
    at: [...at, "routes", index],
  }));
  const hosts = new Set(
    routes.flatMap(({ value }) =>
      listIn(value.match).flatMap((each) => textsIn(fieldsIn(each).host)),
    ),
  );
  return [...hosts, undefined].flatMap((host) => {
    const own = routes.map((each) => routeOf(each.value, each.at, source, host));
    const isEmpty = own.every(
      ({ matches }) => matches !== undefined && Array.isArray(matches) && matches[0] === NONE,
    );
    if (isEmpty) return [];
    const addresses = ports.map((port) => ({
      host,
      port: Number(port),
      isSecure,
      redirectsFrom: undefined,
    }));
    return sitesOfRoutes(
      addresses,
      own.filter(({ matches }) => matches[0] !== NONE),
      undefined,
      [],
    );
  });
}

/** Marks a route that is for other hosts. */
const NONE: OrderedMatch = { path: { kind: "exact", value: "" } };

function routeOf(
  value: DraftFields,
  at: ConfigPath,
  source: SourceFields,
  host: string | undefined,
): CaddyRoute {
  const place = `line ${source.line(...at)}`;
  const sets = listIn(value.match).map(fieldsIn);
  const own = sets.filter((each) => each.host === undefined || isOf(host, textsIn(each.host)));
  source.take(...at, "match");
  source.take(...at, "terminal");
  source.take(...at, "group");
  const isTerminal = value.terminal === true || value.group !== undefined;
  if (sets.length > 0 && own.length === 0)
    return { name: "other", matches: [NONE], steps: [], isTerminal };
  const found = own.map(matchesOf);
  const unknown = found.find((each) => typeof each === "string");
  const all = found.flatMap((each) => (typeof each === "string" ? [] : each));
  // A matcher with only a host matches every request of this site.
  const isAll = sets.length === 0 || all.some((each) => Object.keys(each).length === 0);
  const steps = listIn(value.handle).flatMap((each, index) =>
    stepOf(fieldsIn(each), [...at, "handle", index], source, host),
  );
  const name = all[0]?.path?.value ?? "all";
  const matches = unknown === undefined ? (isAll ? [] : all) : `${place}: ${unknown}`;
  return { name, matches, steps, isTerminal };
}

function isOf(host: string | undefined, names: readonly string[]): boolean {
  return (
    host !== undefined &&
    names.some((name) => name === host || (name.startsWith("*.") && host.endsWith(name.slice(1))))
  );
}

/** Converts a matcher set, all of whose conditions must hold; returns the reason as a string if that is impossible. */
function matchesOf(set: DraftFields): readonly OrderedMatch[] | string {
  let found: readonly OrderedMatch[] = [{}];
  for (const [name, value] of Object.entries(set)) {
    if (name === "host") continue;
    const values = textsIn(value);
    if (name === "path")
      found = found.flatMap((one) => values.map((each) => ({ ...one, path: caddyPath(each) })));
    else if (name === "method")
      found = found.flatMap((one) => values.map((method) => ({ ...one, method })));
    else if (name === "header") {
      const headers = Object.entries(fieldsIn(value)).map(
        ([key, each]) => [key.toLowerCase(), textsIn(each)] as const,
      );
      if (headers.some(([, texts]) => texts.length !== 1 || /^\*|\*$/.test(texts[0] ?? "")))
        return "a header matcher with several values or wildcards has no counterpart";
      found = found.map((one) => ({
        ...one,
        headers: headers.map(([key, [text = ""]]) => ({ name: key, kind: "exact", value: text })),
      }));
    } else return `the matcher ${name} has no counterpart`;
  }
  return found;
}

function stepOf(
  handler: DraftFields,
  at: ConfigPath,
  source: SourceFields,
  host: string | undefined,
): readonly CaddyStep[] {
  const place = `line ${source.line(...at)}`;
  const problem: CaddyStep = {
    kind: "problem",
    text: `${place}: ${textIn(handler.handler) ?? "a handler"}`,
  };
  const only = (...names: readonly string[]) =>
    Object.keys(handler).every((name) => name === "handler" || names.includes(name));
  const take = (...names: readonly string[]) => {
    for (const name of ["handler", ...names]) source.take(...at, name);
  };
  const notes: string[] = [];
  switch (handler.handler) {
    case "subroute":
      take();
      return [
        {
          kind: "routes",
          routes: listIn(handler.routes).map((each, index) =>
            routeOf(fieldsIn(each), [...at, "routes", index], source, host),
          ),
        },
      ];
    case "encode":
    case "vars":
      return [];
    case "rewrite":
      if (!only("strip_path_prefix")) return [problem];
      take("strip_path_prefix");
      return [{ kind: "strip", prefix: textIn(handler.strip_path_prefix) ?? "", place }];
    case "static_response": {
      if (!only("status_code", "body", "headers", "close")) return [problem];
      const policies = responsePolicies(handler);
      if (policies === undefined) return [problem];
      take("status_code", "body", "headers", "close");
      return [{ kind: "end", policies, backends: [], notes }];
    }
    case "headers": {
      const [request, response] = [handler.request, handler.response].map((each) =>
        changesOf(fieldsIn(each)),
      );
      if (request === undefined || response === undefined || !only("request", "response"))
        return [problem];
      take("request", "response");
      const policies = merged(
        requestHeaderPolicies(request, place, notes),
        responseHeaderPolicies(response, place, notes),
      );
      return [{ kind: "change", policies, notes }];
    }
    case "reverse_proxy":
      return [proxyOf(handler, at, source) ?? problem];
    default:
      return [problem];
  }
}

function responsePolicies(handler: DraftFields): DraftFields | undefined {
  const status = Number(handler.status_code ?? 200);
  const headers = Object.entries(fieldsIn(handler.headers)).map(([name, value]) => [
    name.toLowerCase(),
    textsIn(value)[0] ?? "",
  ]);
  const location = headers.find(([name]) => name === "location")?.[1];
  if (!Number.isInteger(status) || status < 200 || status > 599) return undefined;
  if (location !== undefined && headers.length === 1 && status >= 300)
    return redirectPolicies(location, status);
  const body = caddyText(textIn(handler.body) ?? "");
  if (body === undefined || headers.some(([, value = ""]) => !("text" in (caddyText(value) ?? {}))))
    return undefined;
  return {
    directResponse: {
      status,
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map(asText)) }),
      ...("expression" in body
        ? { bodyExpression: body.expression }
        : body.text !== "" && { body: body.text }),
    },
  };
}

/** Quotes a value that gwc would evaluate as an expression, such as an entity tag. */
function asText([name = "", value = ""]: readonly string[]): readonly [string, string] {
  return [name, isWrittenExpression(value, "request") ? celText(value) : value];
}

function changesOf(section: DraftFields): readonly HeaderChange[] | undefined {
  const { set, add, delete: removed, deferred, ...rest } = section;
  if (Object.keys(rest).length > 0) return undefined;
  const values = (how: "set" | "add", fields: unknown): readonly HeaderChange[] =>
    Object.entries(fieldsIn(fields)).flatMap(([name, value]) =>
      textsIn(value).map((each) => ({ name, value: each, how })),
    );
  const names = textsIn(removed ?? []);
  if (names.some((name) => name.includes("*"))) return undefined;
  return [
    ...values("set", set),
    ...values("add", add),
    ...names.map((name) => ({ name, value: undefined, how: "remove" }) as const),
  ];
}

function proxyOf(
  handler: DraftFields,
  at: ConfigPath,
  source: SourceFields,
): CaddyStep | undefined {
  const place = `line ${source.line(...at)}`;
  const { upstreams, headers, transport, load_balancing, health_checks, flush_interval, ...rest } =
    handler;
  const servers = listIn(upstreams).map((each) => textIn(fieldsIn(each).dial) ?? "");
  const { request, response } = fieldsIn(headers);
  const [up, down] = [request, response].map((each) => changesOf(fieldsIn(each)));
  const { protocol = "http", tls, ...others } = fieldsIn(transport);
  if (up === undefined || down === undefined || servers.length === 0 || servers.includes(""))
    return undefined;
  if (
    Object.keys(rest).some((name) => name !== "handler") ||
    protocol !== "http" ||
    Object.keys(others).length > 0
  )
    return undefined;
  const known = fieldsIn(tls);
  if (Object.keys(known).some((name) => name !== "insecure_skip_verify" && name !== "server_name"))
    return undefined;
  for (const name of ["handler", "upstreams", "headers", "transport"]) source.take(...at, name);
  const notes =
    known.insecure_skip_verify === true
      ? [`${place}: the server's certificate is not verified`]
      : [];
  const backendTLS = {
    ...(known.insecure_skip_verify === true && { insecure: true }),
    ...(typeof known.server_name === "string" && { hostname: known.server_name }),
  };
  return {
    kind: "end",
    policies: merged(
      merged(
        merged(FORWARDED, { hostRewrite: { mode: tls === undefined ? "None" : "Auto" } }),
        requestHeaderPolicies(up, place, notes),
      ),
      responseHeaderPolicies(down, place, notes),
    ),
    backends: servers.map((host) => ({
      host: host.replace(/^:/, "localhost:").replace(/^unix\//, "unix:"),
      ...(tls !== undefined && { policies: { backendTLS } }),
    })),
    notes,
  };
}
