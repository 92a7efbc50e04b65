import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportDraft } from "../imported-text.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import {
  draftsInOrder,
  type OrderedMatch,
  type OrderedPath,
  type OrderedRoute,
} from "../proxy/ordered-routes.ts";
import { type DraftFields, FORWARDED, merged, type SiteDraft } from "../proxy/route-draft.ts";
import { siteFile } from "../proxy/site-file.ts";
import { hasUser, plainText } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";
import { type KongConsumer, type KongPlugin, pluginPart } from "./kong-plugins.ts";

/** Converts a declarative file of Kong; returns the reason as a string if that is impossible. */
export function importKong(source: SourceFields): ImportDraft | string {
  const root = fieldsIn(source.value);
  source.take("_format_version");
  source.take("_transform");
  const consumers = listIn(root.consumers).map((each, index) =>
    consumerOf(fieldsIn(each), ["consumers", index], source),
  );
  const services = listIn(root.services).map((each, index) => ({
    value: fieldsIn(each),
    at: ["services", index],
  }));
  const own = services.flatMap(({ value, at }) =>
    listIn(value.routes).map((each, index) => ({
      value: fieldsIn(each),
      at: [...at, "routes", index],
      service: { value, at },
    })),
  );
  const outer = listIn(root.routes).map((each, index) => {
    const value = fieldsIn(each);
    const name = textIn(fieldsIn(value.service).name) ?? textIn(value.service);
    return {
      value,
      at: ["routes", index],
      service: services.find((one) => one.value.name === name),
    };
  });
  const routes = [...own, ...outer].map((each) => routeOf(each, root, consumers, source));
  if (routes.length === 0) return "has no route";
  const ordered = routes.toSorted((a, b) => b.priority - a.priority);
  const hosts = new Set(ordered.flatMap((each) => each.hosts));
  const sites = [...hosts, undefined].flatMap((host): readonly SiteDraft[] => {
    const mine = ordered.filter(
      (each) => each.hosts.length === 0 || (host !== undefined && each.hosts.includes(host)),
    );
    if (mine.length === 0) return [];
    const hostnames = host === undefined ? [] : [host];
    return [
      {
        port: 8000,
        hostnames,
        isDefault: host === undefined,
        routes: draftsInOrder(mine.map(({ route }) => route)),
        notes: [],
      },
    ];
  });
  const notes = ["the file does not contain Kong's ports: 8000 is its default"];
  return siteFile(sites, notes);
}

function consumerOf(value: DraftFields, at: ConfigPath, source: SourceFields): KongConsumer {
  source.take(...at, "username");
  source.take(...at, "keyauth_credentials");
  source.take(...at, "acls");
  source.take(...at, "basicauth_credentials");
  return {
    name: textIn(value.username ?? value.custom_id) ?? "consumer",
    keys: listIn(value.keyauth_credentials).length,
    groups: listIn(value.acls).map((each) => textIn(fieldsIn(each).group) ?? ""),
    hasPassword: listIn(value.basicauth_credentials).length > 0,
  };
}

interface ReadRoute {
  readonly value: DraftFields;
  readonly at: ConfigPath;
  readonly service: { readonly value: DraftFields; readonly at: ConfigPath } | undefined;
}

interface KongRoute {
  readonly hosts: readonly string[];
  readonly route: OrderedRoute;
  /** Rank: routes with more conditions come first, then those with patterns, then those with longer paths. */
  readonly priority: number;
}

/** Fields of a route that are always converted. */
const CONVERTED: readonly string[] = [
  ...["name", "hosts", "paths", "methods", "headers", "strip_path", "preserve_host", "service"],
  "path_handling",
];

/** Fields of a route that do not restrict access; reported if they are not converted. */
const HARMLESS: readonly string[] = [
  ...["plugins", "protocols", "tags", "regex_priority", "https_redirect_status_code", "id"],
  ...["request_buffering", "response_buffering"],
];

function routeOf(
  { value, at, service }: ReadRoute,
  root: DraftFields,
  consumers: readonly KongConsumer[],
  source: SourceFields,
): KongRoute {
  const place = `line ${source.line(...at)}`;
  const problems: string[] = [];
  const notes: string[] = [];
  for (const field of CONVERTED) source.take(...at, field);
  const [paths, methods, hosts] = [value.paths, value.methods, value.hosts].map((each) =>
    textsIn(each ?? []),
  );
  const headers = Object.entries(fieldsIn(value.headers));
  const unknown = Object.keys(value).find(
    (field) => value[field] !== null && ![...CONVERTED, ...HARMLESS].includes(field),
  );
  if (unknown !== undefined) problems.push(`${place}: ${unknown}`);
  if (headers.some(([, each]) => textsIn(each).length !== 1))
    problems.push(`${place}: a header with several values`);
  if (hosts?.some((host) => !/^(\*\.)?[a-z0-9.-]+$/i.test(host)))
    problems.push(`${place}: a host pattern that gwc does not support`);
  const protocols = textsIn(value.protocols ?? ["http", "https"]);
  if (protocols.some((each) => !/^https?$/.test(each)))
    problems.push(`${place}: protocols ${protocols.join(", ")}`);
  if (!protocols.includes("http"))
    notes.push(`${place}: the route is for HTTPS only: add tls to its listener`);
  const read = (paths?.length ? paths : ["/"]).map(pathOf);
  const matches: readonly OrderedMatch[] = read.flatMap((path) =>
    (methods?.length ? methods : [undefined]).map((method) => ({
      ...(path.kind === "start" && path.value === "/" ? {} : { path }),
      ...(method !== undefined && { method: method.toUpperCase() }),
      headers: headers.map(([name, each]) => {
        const [text = ""] = textsIn(each);
        const isPattern = text.startsWith("~*");
        return {
          name: name.toLowerCase(),
          kind: isPattern ? "regex" : "exact",
          value: plainText(isPattern ? text.slice(2) : text),
        } as const;
      }),
    })),
  );
  const plugins = pluginsOf(value, at, service, root, source);
  let policies: DraftFields = {};
  let backends: readonly DraftFields[] | undefined;
  for (const each of plugins) {
    const part = pluginPart(each, consumers, source);
    if (typeof part === "string") problems.push(part);
    else {
      policies = merged(policies, part.policies);
      backends = part.backends ?? backends;
      notes.push(...part.notes);
    }
  }
  const isEnded = policies.directResponse !== undefined;
  const target =
    isEnded || backends !== undefined
      ? undefined
      : targetOfService(service, root, source, problems, notes);
  const rewrite =
    isEnded || backends !== undefined
      ? {}
      : rewriteOf(value, read, target?.path ?? "/", problems, place);
  const isHostKept = value.preserve_host === true;
  const forwarded =
    target === undefined
      ? {}
      : merged(FORWARDED, { hostRewrite: { mode: isHostKept ? "None" : "Auto" } });
  const count = [hosts?.length, paths?.length, methods?.length, headers.length].filter(
    (each) => (each ?? 0) > 0,
  ).length;
  const longest = Math.max(...read.map((path) => path.value.length));
  const isPattern = read.some(({ kind }) => kind === "regex");
  return {
    hosts: (hosts ?? []).map((host) => host.toLowerCase()),
    priority:
      count * 1e6 + (isPattern ? 1e5 + Number(value.regex_priority ?? 0) * 1e3 : 0) + longest,
    route: {
      name: textIn(value.name) ?? textIn(service?.value.name) ?? "route",
      matches,
      policies: merged(merged(forwarded, rewrite), merged(target?.policies ?? {}, policies)),
      backends: isEnded ? [] : (backends ?? target?.backends ?? []),
      notes,
      problem: problems[0],
    },
  };
}

function pathOf(text: string): OrderedPath {
  return text.startsWith("~")
    ? {
        kind: "regex",
        value: plainText(
          `${text.slice(1).replace(/^\^/, "").replace(/\$$/, "")}${text.endsWith("$") ? "" : ".*"}`,
        ),
      }
    : { kind: "start", value: plainText(text) };
}

function pluginsOf(
  value: DraftFields,
  at: ConfigPath,
  service: ReadRoute["service"],
  root: DraftFields,
  source: SourceFields,
): readonly KongPlugin[] {
  const found = new Map<string, KongPlugin>();
  const add = (list: unknown, path: ConfigPath, isOwn: (plugin: DraftFields) => boolean) => {
    listIn(list).forEach((each, index) => {
      const plugin = fieldsIn(each);
      const name = textIn(plugin.name) ?? "";
      if (!isOwn(plugin)) return;
      // The most specific plugin of a name applies.
      if (plugin.enabled === false) source.take(...path, index);
      else found.set(name, { name, config: fieldsIn(plugin.config), at: [...path, index] });
    });
  };
  const refers = (field: unknown, name: unknown) => field === name || fieldsIn(field).name === name;
  add(
    root.plugins,
    ["plugins"],
    (each) => each.service === undefined && each.route === undefined && each.consumer === undefined,
  );
  add(
    root.plugins,
    ["plugins"],
    (each) => each.service !== undefined && refers(each.service, service?.value.name),
  );
  add(service?.value.plugins, [...(service?.at ?? []), "plugins"], () => true);
  add(
    root.plugins,
    ["plugins"],
    (each) => each.route !== undefined && refers(each.route, value.name),
  );
  add(value.plugins, [...at, "plugins"], () => true);
  return [...found.values()];
}

function targetOfService(
  service: ReadRoute["service"],
  root: DraftFields,
  source: SourceFields,
  problems: string[],
  notes: string[],
):
  | {
      readonly backends: readonly DraftFields[];
      readonly path: string;
      readonly policies: DraftFields;
    }
  | undefined {
  if (service === undefined) {
    problems.push("the route has no service");
    return undefined;
  }
  const { value, at } = service;
  const place = `line ${source.line(...at)}`;
  const url = textIn(value.url);
  const [
    ,
    scheme = textIn(value.protocol) ?? "http",
    server = textIn(value.host) ?? "",
    path = textIn(value.path) ?? "/",
  ] = /^(\w+):\/\/([^/]+)(\/.*)?$/.exec(url ?? "") ?? [];
  if (!/^https?$/.test(scheme) || server === "" || (url !== undefined && hasUser(url))) {
    problems.push(`${place}: ${scheme} to ${server}`);
    return undefined;
  }
  const port = Number(value.port ?? (scheme === "https" ? 443 : 80));
  const upstreams = listIn(root.upstreams).map(fieldsIn);
  const upstream = upstreams.findIndex(({ name }) => name === server);
  for (const field of [
    "name",
    "url",
    "protocol",
    "host",
    "port",
    "path",
    "retries",
    "connect_timeout",
    "read_timeout",
  ])
    source.take(...at, field);
  const targets = listIn(upstreams[upstream]?.targets).map(fieldsIn);
  if (upstream >= 0) {
    source.take("upstreams", upstream, "name");
    source.take("upstreams", upstream, "targets");
  }
  const { retries, connect_timeout: connect, read_timeout: read } = value;
  if (read !== undefined)
    notes.push(
      `${place}: Kong applies read_timeout between two reads; in gwc requestTimeout covers the head of the response`,
    );
  const connection = {
    ...(scheme === "https" && { backendTLS: {} }),
    ...(connect !== undefined && { tcp: { connectTimeout: `${Number(connect)}ms` } }),
    ...(read !== undefined && { http: { requestTimeout: `${Number(read)}ms` } }),
  };
  const own = Object.keys(connection).length > 0 ? { policies: connection } : {};
  const hosts =
    upstream >= 0
      ? targets.map(({ target, weight = 100 }) => ({
          host: withPort(textIn(target) ?? "", 8000),
          weight: Number(weight),
        }))
      : [{ host: withPort(server, port) }];
  const policies =
    retries === undefined || Number(retries) === 0 ? {} : { retry: { attempts: Number(retries) } };
  return { backends: hosts.map((each) => ({ ...each, ...own })), path, policies };
}

function withPort(host: string, port: number): string {
  return plainText(/:\d+$/.test(host) ? host : `${host}:${port}`);
}

/** Returns the rewrite from the request's path to the service's path plus the rest that the route does not strip. */
function rewriteOf(
  value: DraftFields,
  paths: readonly OrderedPath[],
  target: string,
  problems: string[],
  place: string,
): DraftFields {
  const isStripped = value.strip_path !== false;
  const isAll = paths.every((path) => path.value === "/");
  const base = target.replace(/\/$/, "");
  if (base === "" && (!isStripped || isAll)) return {};
  if (paths.some(({ kind }) => kind === "regex"))
    problems.push(`${place}: a path pattern with strip_path`);
  if (isStripped) return { urlRewrite: { path: { prefix: base === "" ? "/" : plainText(base) } } };
  const path = `${JSON.stringify(base)} + request.pathAndQuery`;
  return { transformations: { request: { set: { ":path": plainText(path) } } } };
}
