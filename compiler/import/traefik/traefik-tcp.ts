import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { ImportNote } from "../imported-text.ts";
import { fieldsIn, listIn, textIn, textsIn } from "../proxy/fields.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { addressTest, plainText, routeName } from "../proxy/texts.ts";
import type { SourceFields } from "../source-fields.ts";

/** A port of Traefik for connections. */
interface ConnectionPoint {
  readonly name: string;
  readonly port: number;
  readonly address: string | undefined;
  readonly isDefault: boolean;
}

/** TCP routers, converted to binds. */
export interface TraefikConnections {
  readonly binds: readonly DraftFields[];
  /** Notes with paths below the bind of their index; those of routers that nothing serves have none. */
  readonly notes: readonly { readonly bind?: number; readonly text: string }[];
}

/** Converts the TCP routers of the dynamic file. `taken` are entry points with routers for HTTP. */
export function connectionsOf(
  source: SourceFields,
  points: readonly ConnectionPoint[],
  taken: ReadonlySet<string>,
  keys: DraftFields,
): TraefikConnections {
  const tcp = fieldsIn(fieldsIn(source.value).tcp);
  const notes: { bind?: number; text: string }[] = [];
  const routers = Object.entries(fieldsIn(tcp.routers)).map(([name, value]) => {
    const found = routerOf(name, fieldsIn(value), tcp, source, keys);
    const problem =
      typeof found === "string"
        ? `line ${source.line("tcp", "routers", name)}: TCP router ${name}: ${found}`
        : undefined;
    const converted = typeof found === "string" ? { listeners: [], notes: [] } : found;
    return { name, entry: textsIn(fieldsIn(value).entryPoints ?? []), problem, ...converted };
  });
  const binds: DraftFields[] = [];
  const known = new Set<string>();
  for (const point of points) {
    const own = routers.filter(({ entry }) =>
      entry.length === 0 ? point.isDefault : entry.includes(point.name),
    );
    if (own.length === 0) continue;
    for (const { name } of own) known.add(name);
    const isShared = taken.has(point.name);
    // Connections of a router that is not converted must not reach another one.
    const problems = [
      ...own.flatMap(({ problem }) => problem ?? []),
      ...(isShared ? [`entry point ${point.name} has routers for HTTP, too`] : []),
    ];
    if (problems.length > 0) {
      notes.push(...problems.map((text) => ({ text: `${text}; nothing listens for TCP there` })));
      continue;
    }
    const texts = new Set(own.flatMap((each) => each.notes));
    notes.push(...[...texts].map((text) => ({ bind: binds.length, text })));
    binds.push({
      port: point.port,
      ...(point.address !== undefined && { address: point.address }),
      listeners: own.flatMap(({ listeners }) => listeners),
    });
  }
  const unknown = routers.filter(({ name }) => !known.has(name));
  notes.push(
    ...unknown.map(({ name }) => ({
      text: `TCP router ${name} is at no known entry point: import both files together`,
    })),
  );
  return { binds, notes };
}

/** Returns notes of connections for the binds that follow others in a file. */
export function connectionNotes(
  { notes }: TraefikConnections,
  before: number,
): readonly ImportNote[] {
  return notes.map(({ bind, text }) => ({
    path: bind === undefined ? ["binds"] : ["binds", before + bind],
    text,
  }));
}

interface ConvertedRouter {
  readonly listeners: readonly DraftFields[];
  readonly notes: readonly string[];
}

const FIELDS = ["rule", "ruleSyntax", "service", "middlewares", "entryPoints", "priority", "tls"];

function routerOf(
  name: string,
  value: DraftFields,
  tcp: DraftFields,
  source: SourceFields,
  keys: DraftFields,
): ConvertedRouter | string {
  const at: ConfigPath = ["tcp", "routers", name];
  const unknown = Object.keys(value).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return `${unknown} has no counterpart`;
  const names = serverNames(textIn(value.rule) ?? "");
  if (names === undefined) return `gwc has no counterpart for the rule ${textIn(value.rule)}`;
  const tls = value.tls === undefined ? undefined : fieldsIn(value.tls);
  if (tls?.options !== undefined) return "tls.options may require client certificates";
  if (tls === undefined && names.some((each) => each !== "*"))
    return "a connection without TLS has no server name";
  const rules: string[] = [];
  for (const each of textsIn(value.middlewares ?? [])) {
    const rule = addressRule(each, tcp, source);
    if (rule === undefined) return `gwc has no counterpart for the middleware ${each}`;
    rules.push(rule);
  }
  const notes: string[] = [];
  const backends = backendsOf(textIn(value.service) ?? "", tcp, source, notes);
  if (typeof backends === "string") return backends;
  for (const field of FIELDS) source.take(...at, field);
  const route = {
    ...(rules.length > 0 && {
      policies: { authorization: { rules: rules.map((require) => ({ require })) } },
    }),
    backends,
  };
  const passes = tls?.passthrough === true;
  const listeners = names.map((host) => ({
    name: routeName(names.length === 1 ? `tcp-${name}` : `tcp-${name}-${host}`),
    ...(host !== "*" && { hostname: host }),
    protocol: tls === undefined ? "TCP" : "TLS",
    ...(tls !== undefined && !passes && { tls: keys }),
    tcpRoutes: [route],
  }));
  return { listeners, notes };
}

/** Returns the names of a rule that is a choice of server names; `undefined` for other rules. */
function serverNames(rule: string): readonly string[] | undefined {
  const calls = rule.split("||").map((each) => /^\s*HostSNI\(([^()]*)\)\s*$/.exec(each)?.[1]);
  const names = calls.flatMap((words) =>
    (words ?? "").split(",").map((word) => /^\s*[`"']([^`"']+)[`"']\s*$/.exec(word)?.[1]),
  );
  const known = names.filter((each) => each !== undefined);
  return known.length === names.length ? known : undefined;
}

function addressRule(name: string, tcp: DraftFields, source: SourceFields): string | undefined {
  const key = name.replace(/@file$/, "");
  const value = fieldsIn(fieldsIn(tcp.middlewares)[key]);
  const [kind = "", ...others] = Object.keys(value);
  if (!["ipAllowList", "ipWhiteList"].includes(kind) || others.length > 0) return undefined;
  const tests = textsIn(fieldsIn(value[kind]).sourceRange).map(addressTest);
  const known = tests.filter((each) => each !== undefined);
  if (known.length < tests.length || known.length === 0) return undefined;
  source.take("tcp", "middlewares", key, kind, "sourceRange");
  return known.join(" || ");
}

function backendsOf(
  name: string,
  tcp: DraftFields,
  source: SourceFields,
  notes: string[],
): readonly DraftFields[] | string {
  const key = name.replace(/@file$/, "");
  const at: ConfigPath = ["tcp", "services", key];
  const { loadBalancer, weighted } = fieldsIn(fieldsIn(tcp.services)[key]);
  if (weighted !== undefined) {
    source.take(...at, "weighted", "services");
    const parts = listIn(fieldsIn(weighted).services).map(fieldsIn);
    const found = parts.map((part) => {
      const inner = textIn(part.name) ?? "";
      if (inner === name) return `service ${name} contains itself`;
      const own = backendsOf(inner, tcp, source, notes);
      if (typeof own === "string") return own;
      if (own.length > 1) return `service ${inner} has several servers that share one weight`;
      return own.map((each) => ({ ...each, weight: Number(part.weight ?? 1) }));
    });
    const problem = found.find((each) => typeof each === "string");
    return problem ?? found.flatMap((each) => (typeof each === "string" ? [] : each));
  }
  const fields = fieldsIn(loadBalancer);
  const servers = listIn(fields.servers).map(fieldsIn);
  if (loadBalancer === undefined) return `the file has no load balancer ${name}`;
  // Servers that expect more than the bytes of the connection would misread them.
  const special = ["proxyProtocol", "serversTransport", "tls"].find((field) => field in fields);
  if (special !== undefined) return `${special} of service ${name} has no counterpart`;
  const hosts = servers.map(({ address, tls }) =>
    tls === undefined ? textIn(address) : undefined,
  );
  const known = hosts.filter((each) => each !== undefined && /^[^/@\s]+:\d+$/.test(each));
  if (known.length === 0 || known.length < hosts.length)
    return `service ${name} has a server that is not HOST:PORT`;
  source.take(...at, "loadBalancer", "servers");
  for (const field of Object.keys(fields))
    if (field !== "servers")
      notes.push(`line ${source.line(...at)}: ${field} of ${name} is skipped`);
  return known.map((each) => ({ host: plainText(each ?? "") }));
}
