import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft } from "../imported-text.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import { draftsInOrder, type OrderedMatch, type OrderedRoute } from "../proxy/ordered-routes.ts";
import {
  closedRoute,
  type DraftFields,
  FORWARDED,
  merged,
  type SiteDraft,
} from "../proxy/route-draft.ts";
import { siteFile } from "../proxy/site-file.ts";
import { hasUser, plainText } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";
import { middlewarePart } from "./traefik-middlewares.ts";
import { type RuleMatch, readRule } from "./traefik-rule.ts";
import { connectionNotes, connectionsOf } from "./traefik-tcp.ts";

/** Converts the dynamic file of Traefik and, if given, the static one; returns the reason as a string if that is impossible. */
export function importTraefik(sources: readonly SourceFields[]): ImportDraft | string {
  const dynamic = sources.find(
    ({ value }) => fieldsIn(value).http !== undefined || fieldsIn(value).tcp !== undefined,
  );
  const fixed = sources.find(({ value }) => fieldsIn(value).entryPoints !== undefined);
  if (dynamic === undefined)
    return "has no http and no tcp: it is not a file of Traefik's file provider";
  const http = fieldsIn(fieldsIn(dynamic.value).http);
  const routers = Object.entries(fieldsIn(http.routers)).map(([name, value]) =>
    routerOf(name, fieldsIn(value), http, dynamic),
  );
  const points = entryPoints(fixed);
  const tls = keysOf(dynamic);
  const notes =
    fixed === undefined
      ? ["Traefik's ports are in its static file: import both files together"]
      : [];
  const sites = points.flatMap((point) => {
    const own = routers.filter(({ entry }) =>
      entry.length === 0 ? point.isDefault : entry.includes(point.name),
    );
    return pointSites(point, own, tls);
  });
  const used = points.filter(({ port }) => sites.some((site) => site.port === port));
  const names = new Set(used.map(({ name }) => name));
  const connections = connectionsOf(dynamic, points, names, tls.tls);
  if (sites.length + connections.binds.length === 0)
    return connections.notes[0]?.text ?? "has no router at a known entry point";
  const file = siteFile(sites, notes);
  const { binds } = file.value;
  return {
    value: { binds: [...binds, ...connections.binds] },
    notes: [...file.notes, ...connectionNotes(connections, binds.length)],
  };
}

interface EntryPoint {
  readonly name: string;
  readonly port: number;
  readonly address: string | undefined;
  readonly isDefault: boolean;
  readonly isSecure: boolean;
  /** Redirect policy of the entry point, usually to HTTPS. */
  readonly redirect: DraftFields | undefined;
  readonly middlewares: readonly string[];
}

function entryPoints(fixed: SourceFields | undefined): readonly EntryPoint[] {
  const point = { isDefault: true, redirect: undefined, address: undefined, middlewares: [] };
  if (fixed === undefined)
    return [
      { ...point, name: "web", port: 80, isSecure: false },
      { ...point, name: "http", port: 80, isSecure: false, isDefault: false },
      { ...point, name: "websecure", port: 443, isSecure: true },
      { ...point, name: "https", port: 443, isSecure: true, isDefault: false },
    ];
  const all = Object.entries(fieldsIn(fieldsIn(fixed.value).entryPoints));
  const chosen = all.some(([, value]) => fieldsIn(value).asDefault === true);
  const ports = new Map(all.map(([name, value]) => [name, portOf(fieldsIn(value).address)]));
  return all.flatMap(([name, value]) => {
    const at: ConfigPath = ["entryPoints", name];
    const { address, asDefault, http } = fieldsIn(value);
    const port = portOf(address);
    if (port === undefined) return [];
    const own = fieldsIn(http);
    const {
      to,
      scheme = "https",
      permanent = true,
    } = fieldsIn(fieldsIn(own.redirections).entryPoint);
    const target = ports.get(String(to));
    for (const field of ["address", "asDefault"]) fixed.take(...at, field);
    fixed.take(...at, "http", "redirections");
    fixed.take(...at, "http", "tls");
    fixed.take(...at, "http", "middlewares");
    const host = /^(.*):\d+/.exec(String(address))?.[1]?.replace(/^\[|\]$/g, "");
    return [
      {
        name,
        port,
        address:
          host === undefined || host === "" || host === "0.0.0.0" || host === "::"
            ? undefined
            : host,
        isDefault: chosen ? asDefault === true : true,
        isSecure: own.tls !== undefined,
        redirect:
          to === undefined
            ? undefined
            : {
                requestRedirect: {
                  scheme: textIn(scheme),
                  ...(target !== undefined &&
                    target !== 443 &&
                    target !== 80 && { authority: { port: target } }),
                  status: permanent === true ? 301 : 302,
                },
              },
        middlewares: textsIn(own.middlewares ?? []),
      },
    ];
  });
}

function portOf(address: unknown): number | undefined {
  const [, port] = /:(\d+)(\/tcp)?$/.exec(String(address)) ?? [];
  return port === undefined ? undefined : Number(port);
}

function keysOf(dynamic: SourceFields): {
  readonly tls: DraftFields;
  readonly note: string | undefined;
} {
  const certificates = listIn(fieldsIn(fieldsIn(dynamic.value).tls).certificates).map(fieldsIn);
  const [first] = certificates;
  const [cert, key] = [textIn(first?.certFile), textIn(first?.keyFile)];
  if (cert === undefined || key === undefined)
    return {
      tls: { cert: "certs/server.crt", key: "certs/server.key" },
      note: "set cert and key: Traefik obtains the certificate elsewhere",
    };
  dynamic.take("tls", "certificates", 0, "certFile");
  dynamic.take("tls", "certificates", 0, "keyFile");
  return {
    tls: { cert: plainText(cert), key: plainText(key) },
    note:
      certificates.length > 1
        ? "Traefik chooses a certificate by its names; only the first one was imported"
        : undefined,
  };
}

interface Router {
  readonly name: string;
  readonly entry: readonly string[];
  readonly priority: number;
  readonly isSecure: boolean;
  readonly matches: readonly RuleMatch[];
  readonly route: (matches: readonly OrderedMatch[], more: readonly string[]) => OrderedRoute;
  /** Reason why its hosts are unknown, so that its whole entry point must be closed; `undefined` if they are known. */
  readonly problem: string | undefined;
}

function routerOf(
  name: string,
  value: DraftFields,
  http: DraftFields,
  source: SourceFields,
): Router {
  const at: ConfigPath = ["http", "routers", name];
  const place = `line ${source.line(...at)}`;
  const rule = textIn(value.rule) ?? "";
  const read = readRule(rule);
  for (const field of ["rule", "service", "middlewares", "entryPoints", "priority", "tls"])
    source.take(...at, field);
  const secure = fieldsIn(value.tls);
  const problem =
    typeof read === "string"
      ? `${place}: ${read}`
      : secure.options !== undefined
        ? `${place}: tls.options may require client certificates`
        : undefined;
  const unknown = Object.keys(value).find(
    (field) =>
      ![
        "rule",
        "service",
        "middlewares",
        "entryPoints",
        "priority",
        "tls",
        "ruleSyntax",
        "observability",
      ].includes(field),
  );
  return {
    name,
    entry: textsIn(value.entryPoints ?? []),
    // Traefik ranks longer rules first unless a priority is set.
    priority: Number(value.priority ?? 0) || rule.length,
    isSecure: value.tls !== undefined,
    matches: typeof read === "string" ? [] : read,
    problem,
    route: (matches, more) => {
      const notes: string[] = [];
      const problems = [problem, unknown && `${place}: ${unknown}`].filter(
        (each) => each !== undefined && each !== "",
      );
      let policies: DraftFields = {};
      for (const each of [...more, ...textsIn(value.middlewares ?? [])]) {
        const part = middlewareOf(each, http, source, matches);
        if (typeof part === "string") problems.push(part);
        else {
          policies = merged(policies, part.policies);
          notes.push(...part.notes);
        }
      }
      const service = serviceOf(textIn(value.service) ?? "", http, source, 0);
      if (typeof service === "string") problems.push(`${place}: ${service}`);
      const target =
        typeof service === "string" ? { backends: [], policies: {}, notes: [] } : service;
      const isRedirect = policies.requestRedirect !== undefined;
      return {
        name,
        matches,
        policies: merged(isRedirect ? {} : merged(FORWARDED, target.policies), policies),
        backends: isRedirect ? [] : target.backends,
        notes: [...notes, ...target.notes],
        problem: problems[0],
      };
    },
  };
}

function middlewareOf(
  name: string,
  http: DraftFields,
  source: SourceFields,
  matches: readonly OrderedMatch[],
): ReturnType<typeof middlewarePart> {
  const key = name.replace(/@file$/, "");
  const value = fieldsIn(fieldsIn(http.middlewares)[key]);
  const at: ConfigPath = ["http", "middlewares", key];
  if (value.chain !== undefined) {
    source.take(...at, "chain", "middlewares");
    let all: { policies: DraftFields; notes: readonly string[] } = { policies: {}, notes: [] };
    for (const each of textsIn(fieldsIn(value.chain).middlewares)) {
      const part =
        each === name ? "the chain contains itself" : middlewareOf(each, http, source, matches);
      if (typeof part === "string") return part;
      all = { policies: merged(all.policies, part.policies), notes: [...all.notes, ...part.notes] };
    }
    return all;
  }
  if (Object.keys(value).length === 0) return `the file has no middleware ${name}`;
  return middlewarePart(key, value, at, source, matches);
}

interface Service {
  readonly backends: readonly DraftFields[];
  readonly policies: DraftFields;
  readonly notes: readonly string[];
}

function serviceOf(
  name: string,
  http: DraftFields,
  source: SourceFields,
  depth: number,
): Service | string {
  const key = name.replace(/@file$/, "");
  const at: ConfigPath = ["http", "services", key];
  const { loadBalancer, weighted } = fieldsIn(fieldsIn(http.services)[key]);
  if (weighted !== undefined && depth < 5) {
    source.take(...at, "weighted", "services");
    const parts = listIn(fieldsIn(weighted).services).map((each) => {
      const { name: inner, weight = 1 } = fieldsIn(each);
      const found = serviceOf(textIn(inner) ?? "", http, source, depth + 1);
      return { weight: Number(weight), found };
    });
    const wrong = parts.find(({ found }) => typeof found === "string")?.found;
    if (typeof wrong === "string") return wrong;
    const known = parts.flatMap(({ weight, found }) =>
      typeof found === "string" ? [] : [{ weight, found }],
    );
    // The servers of a service share its weight.
    const scale = known.reduce(
      (product, { found }) => product * Math.max(1, found.backends.length),
      1,
    );
    return {
      backends: known.flatMap(({ weight, found }) =>
        found.backends.map((each) => ({
          ...each,
          weight: (weight * scale) / found.backends.length,
        })),
      ),
      policies: known[0]?.found.policies ?? {},
      notes: known.flatMap(({ found }) => found.notes),
    };
  }
  const fields = fieldsIn(loadBalancer);
  const servers = listIn(fields.servers).map((each) => textIn(fieldsIn(each).url) ?? "");
  if (loadBalancer === undefined) return `the file has no load balancer ${name}`;
  if (
    servers.length === 0 ||
    servers.some((url) => !/^https?:\/\/[^/]+\/?$/.test(url) || hasUser(url))
  )
    return `service ${name} has a server that is not a plain URL`;
  source.take(...at, "loadBalancer", "servers");
  source.take(...at, "loadBalancer", "passHostHeader");
  const notes = Object.keys(fields)
    .filter((field) => !["servers", "passHostHeader"].includes(field))
    .map((field) => `line ${source.line(...at)}: ${field} of ${name} is skipped`);
  const isSecure = servers.some((url) => url.startsWith("https:"));
  return {
    backends: servers.map((url) => ({
      host: plainText(withPort(url)),
      ...(isSecure && { policies: { backendTLS: {} } }),
    })),
    policies: { hostRewrite: { mode: fields.passHostHeader === false ? "Auto" : "None" } },
    notes,
  };
}

function withPort(url: string): string {
  const [, scheme, host = ""] = /^(https?):\/\/([^/]+)/.exec(url) ?? [];
  return /:\d+$/.test(host) ? host : `${host}:${scheme === "https" ? 443 : 80}`;
}

function pointSites(
  point: EntryPoint,
  routers: readonly Router[],
  { tls, note }: ReturnType<typeof keysOf>,
): readonly SiteDraft[] {
  const own = routers.filter(({ isSecure }) => isSecure || !point.isSecure);
  if (point.redirect !== undefined) {
    const route = {
      name: "to-https",
      matches: [{ path: { kind: "prefix", value: "/" } }] as const,
      policies: point.redirect,
      backends: [],
      notes: [],
    };
    return [
      {
        port: point.port,
        address: point.address,
        hostnames: [],
        isDefault: true,
        routes: [route],
        notes: [],
      },
    ];
  }
  if (own.length === 0) return [];
  const isSecure = point.isSecure || own.some((each) => each.isSecure);
  const shared = { port: point.port, address: point.address };
  const security = isSecure ? { tls } : {};
  const notes = isSecure && note !== undefined ? [note] : [];
  const lost = own.find(({ problem }) => problem !== undefined);
  // The requests of an unsupported rule are unknown and must not reach another router, so all are refused.
  if (lost?.problem !== undefined) {
    const route = closedRoute(
      "all",
      [{ path: { kind: "prefix", value: "/" } }],
      `router ${lost.name}: ${lost.problem}`,
    );
    return [{ ...shared, ...security, hostnames: [], isDefault: true, routes: [route], notes }];
  }
  const ordered = own.toSorted((a, b) => b.priority - a.priority);
  const hosts = new Set(
    ordered.flatMap(({ matches }) => matches.flatMap(({ host }) => host ?? [])),
  );
  return [...hosts, undefined].flatMap((host) => {
    const routes = ordered.flatMap((router) => {
      const matches = router.matches.filter(
        (each) => each.host === undefined || each.host === host,
      );
      const plain = matches.map(({ host: _, ...rest }) => rest);
      return plain.length === 0 ? [] : [router.route(plain, point.middlewares)];
    });
    if (routes.length === 0) return [];
    const hostnames = host === undefined ? [] : [host];
    return [
      {
        ...shared,
        ...security,
        hostnames,
        isDefault: host === undefined,
        routes: draftsInOrder(routes),
        notes,
      },
    ];
  });
}
