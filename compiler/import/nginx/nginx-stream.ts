import type { ConfigPath } from "../../diagnostics/diagnostic.ts";
import type { Directive, TakenDirectives } from "../directives/directive.ts";
import type { ImportNote } from "../imported-text.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { plainText } from "../proxy/texts.ts";
import { addressCondition } from "./nginx-policies.ts";
import { NginxScope } from "./nginx-scope.ts";
import { durationOf, serversOf } from "./nginx-upstream.ts";

/** Ports of `stream`, converted to binds with TCP routes. */
export interface NginxStreams {
  readonly binds: readonly DraftFields[];
  /** Notes with paths below the bind of their index. */
  readonly notes: readonly { readonly bind: number; readonly text: string }[];
  /** Servers that cannot be converted: nothing listens on their ports. */
  readonly refused: readonly string[];
}

/** Converts the servers of `stream` blocks, which forward connections. */
export function streamsOf(blocks: readonly Directive[], taken: TakenDirectives): NginxStreams {
  const binds: DraftFields[] = [];
  const notes: { bind: number; text: string }[] = [];
  const refused: string[] = [];
  for (const block of blocks) {
    taken.take(block, "alone");
    const inside = block.block ?? [];
    const stream = new NginxScope(inside, undefined, taken);
    const upstreams = inside.filter(({ name }) => name === "upstream");
    for (const server of inside.filter(({ name }) => name === "server")) {
      const found = serverOf(server, stream, upstreams, taken);
      if (typeof found === "string") {
        refused.push(`${taken.place(server)}: ${found}; nothing listens on its port`);
        continue;
      }
      for (const listener of found.listeners) {
        notes.push(...found.notes.map((text) => ({ bind: binds.length, text })));
        binds.push(listener);
      }
    }
  }
  return { binds, notes, refused };
}

/** Returns notes of streams for the binds that follow others in a file. */
export function streamNotes(
  { notes, refused }: NginxStreams,
  before: number,
): readonly ImportNote[] {
  const path: ConfigPath = ["binds"];
  return [
    ...refused.map((text) => ({ path, text })),
    ...notes.map(({ bind, text }) => ({ path: ["binds", before + bind], text })),
  ];
}

interface ConvertedServer {
  readonly listeners: readonly DraftFields[];
  readonly notes: readonly string[];
}

function serverOf(
  server: Directive,
  stream: NginxScope,
  upstreams: readonly Directive[],
  taken: TakenDirectives,
): ConvertedServer | string {
  const scope = new NginxScope(server.block ?? [], stream, taken);
  const [pass] = scope.directives.filter(({ name }) => name === "proxy_pass");
  const [target = ""] = pass?.words ?? [];
  if (pass === undefined) return "it has no proxy_pass";
  if (target.includes("$") || target.startsWith("unix:"))
    return `gwc has no counterpart for proxy_pass ${target}`;
  const rules = scope.directives.filter(({ name }) => name === "allow" || name === "deny");
  const inherited = rules.length > 0 ? rules : stream.all("allow", "deny");
  const condition = addressCondition(inherited);
  if (condition !== undefined && typeof condition !== "string")
    return `${condition.name} ${condition.words.join(" ")} has no counterpart`;
  const notes: string[] = [];
  const upstream = upstreams.find(({ words }) => words[0] === target);
  const hosts = upstream === undefined ? undefined : serversOf(upstream, notes, taken);
  if (typeof hosts === "string") return hosts;
  if (hosts === undefined && !/:\d+$/.test(target)) return `proxy_pass ${target} has no port`;
  taken.take(server, "alone");
  taken.take(pass);
  scope.own("allow", "deny");
  const listens = scope.own("listen");
  const policies = connectionPolicies(scope, notes, taken.place(server), taken);
  const own = Object.keys(policies).length > 0 ? { policies } : {};
  const route = {
    ...(condition !== undefined && { policies: { authorization: { rules: [condition] } } }),
    backends: (hosts ?? [{ host: plainText(target) }]).map((each) => ({ ...each, ...own })),
  };
  // IPv4 and IPv6 have a directive each.
  const byPort = new Map<string, DraftFields>();
  for (const listen of listens) {
    const listener = listenerOf(listen, route, scope, notes, taken);
    if (listener !== undefined) byPort.set(`${listener.port} ${listener.address}`, listener);
  }
  const listeners = [...byPort.values()];
  return listeners.length === 0 ? "gwc has no counterpart for its listen" : { listeners, notes };
}

function listenerOf(
  listen: Directive,
  route: DraftFields,
  scope: NginxScope,
  notes: string[],
  taken: TakenDirectives,
): DraftFields | undefined {
  const [where = "", ...options] = listen.words;
  const place = taken.place(listen);
  const [, host = "", port] = /^(?:(\[[0-9a-f:]+\]|[\d.*]+|localhost):)?(\d+)$/i.exec(where) ?? [];
  if (port === undefined || options.includes("udp")) {
    taken.skip(listen);
    notes.push(`${place}: listen ${listen.words.join(" ")} is skipped`);
    return undefined;
  }
  const name = host.replace(/^\[|\]$/g, "");
  const isAny = ["", "*", "0.0.0.0", "::"].includes(name);
  const isSecure = options.includes("ssl");
  const [cert, key] = [scope.word("ssl_certificate"), scope.word("ssl_certificate_key")];
  if (isSecure && (cert === undefined || key === undefined))
    notes.push(`${place}: the server has no certificate: set cert and key`);
  const tls = {
    cert: plainText(cert ?? "certs/server.crt"),
    key: plainText(key ?? "certs/server.key"),
  };
  return {
    port: Number(port),
    ...(!isAny && { address: name === "localhost" ? "127.0.0.1" : name }),
    ...(options.includes("proxy_protocol") && { tunnelProtocol: "proxy" }),
    listeners: [
      {
        name: `stream-${port}`,
        protocol: isSecure ? "TLS" : "TCP",
        ...(isSecure && { tls }),
        tcpRoutes: [route],
      },
    ],
  };
}

function connectionPolicies(
  scope: NginxScope,
  notes: string[],
  place: string,
  taken: TakenDirectives,
): DraftFields {
  const connect = durationOf(scope.one("proxy_connect_timeout"), taken);
  const isSecure = scope.word("proxy_ssl") === "on";
  const root = isSecure ? scope.word("proxy_ssl_trusted_certificate") : undefined;
  const isVerified = isSecure && scope.word("proxy_ssl_verify") === "on";
  if (isSecure && !isVerified)
    notes.push(
      `${place}: nginx accepts any certificate; gwc requires a trusted one, unless backendTLS has root or insecure: true`,
    );
  return {
    ...(isSecure && { backendTLS: { ...(root !== undefined && { root: plainText(root) }) } }),
    ...(connect !== undefined && { tcp: { connectTimeout: connect } }),
  };
}
