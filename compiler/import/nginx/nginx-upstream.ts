import type { Directive, TakenDirectives } from "../directives/directive.ts";
import type { DraftFields } from "../proxy/route-draft.ts";
import { hasUser, plainText } from "../proxy/texts.ts";
import type { NginxScope } from "./nginx-scope.ts";

/** Target of a `proxy_pass`. */
export interface NginxTarget {
  readonly backends: readonly DraftFields[];
  readonly policies: DraftFields;
  /** Path of the URL, which replaces the matched part of the path; `undefined` if the path is unchanged. */
  readonly path: string | undefined;
  /** Name of the upstream group, which is the Host of requests; `undefined` if the server's own name is used. */
  readonly group: string | undefined;
  readonly notes: readonly string[];
}

/** Converts `proxy_pass`; returns the reason as a string if that is impossible. */
export function nginxTarget(
  pass: Directive,
  scope: NginxScope,
  upstreams: readonly Directive[],
  taken: TakenDirectives,
): NginxTarget | string {
  const [url = ""] = pass.words;
  const [, scheme, server = "", path] = /^(https?):\/\/([^/?#]+)(\/[^?#]*)?$/.exec(url) ?? [];
  if (hasUser(url)) return "its proxy_pass has a user or password";
  if (scheme === undefined || url.includes("$") || server.startsWith("unix"))
    return `gwc has no counterpart for proxy_pass ${url}`;
  const notes: string[] = [];
  const policies = connectionPolicies(scope, scheme === "https", notes, taken.place(pass), taken);
  const upstream = upstreams.find(({ words }) => words[0] === server);
  const isHost = /^[a-z0-9.-]+$/i.test(server);
  if (upstream !== undefined && !isHost)
    notes.push(
      `${taken.place(upstream)}: nginx sends the Host ${server}, which is not a host name; gwc sends the server's own`,
    );
  const servers = upstream === undefined ? undefined : serversOf(upstream, notes, taken);
  if (typeof servers === "string") return servers;
  const hosts = servers ?? [{ host: withPort(server, scheme) }];
  const own = Object.keys(policies).length > 0 ? { policies } : {};
  return {
    backends: hosts.map((each) => ({ ...each, ...own })),
    policies: affinity(upstream, taken),
    path,
    group: upstream === undefined || !isHost ? undefined : server,
    notes,
  };
}

function withPort(server: string, scheme: string): string {
  if (/:\d+$/.test(server)) return plainText(server);
  return plainText(`${server}:${scheme === "https" ? 443 : 80}`);
}

/** Converts the servers of an `upstream`; returns the reason as a string if that is impossible. */
export function serversOf(
  upstream: Directive,
  notes: string[],
  taken: TakenDirectives,
): readonly DraftFields[] | string {
  taken.take(upstream, "alone");
  const servers = (upstream.block ?? []).filter(({ name }) => name === "server");
  const used = servers.filter(({ words }) => !words.includes("backup") && !words.includes("down"));
  const problem = used.find(({ words: [address = ""] }) => /^unix:|\$/.test(address));
  if (problem !== undefined) return `gwc has no counterpart for server ${problem.words[0]}`;
  for (const each of used) taken.take(each);
  const [first] = upstream.block ?? [];
  if (servers.some(({ words }) => words.includes("backup")))
    notes.push(`${taken.place(first ?? upstream)}: backup servers are not used`);
  if (used.length > 1)
    notes.push(
      "nginx tries another server when one fails; in gwc the policy `retry` does this where it is safe",
    );
  const rest = used.flatMap(({ words }) =>
    words.slice(1).filter((word) => !word.startsWith("weight=")),
  );
  if (rest.length > 0)
    notes.push(
      `${taken.place(upstream)}: ${rest.join(" ")} is skipped; see \`health\` in a backend's policies`,
    );
  if (used.length === 0) return "its upstream has no server";
  return used.map(({ words: [address = "", ...options] }) => {
    const weight = options.find((word) => word.startsWith("weight="))?.slice("weight=".length);
    return {
      host: withPort(address, "http"),
      ...(weight !== undefined && { weight: Number(weight) }),
    };
  });
}

function affinity(upstream: Directive | undefined, taken: TakenDirectives): DraftFields {
  const byAddress = upstream?.block?.find(({ name }) => name === "ip_hash");
  if (byAddress === undefined) return {};
  taken.take(byAddress);
  return { sessionAffinity: { source: "source.address" } };
}

function connectionPolicies(
  scope: NginxScope,
  isSecure: boolean,
  notes: string[],
  place: string,
  taken: TakenDirectives,
): DraftFields {
  const connect = durationOf(scope.one("proxy_connect_timeout"), taken);
  const read = durationOf(scope.one("proxy_read_timeout"), taken);
  const root = scope.word("proxy_ssl_trusted_certificate");
  const name = scope.word("proxy_ssl_name");
  const ofName = scope.one("proxy_ssl_name");
  if (ofName !== undefined && name?.includes("$") !== false) taken.skip(ofName);
  const isVerified = scope.word("proxy_ssl_verify") === "on";
  scope.all("proxy_ssl_server_name");
  if (isSecure && !isVerified)
    notes.push(
      `${place}: nginx accepts any certificate; gwc requires a trusted one for that name, unless backendTLS has root or insecure: true`,
    );
  if (read !== undefined)
    notes.push(
      `${place}: nginx applies proxy_read_timeout between two reads; in gwc requestTimeout covers the head of the response`,
    );
  return {
    ...(isSecure && {
      backendTLS: {
        ...(root !== undefined && { root: plainText(root) }),
        ...(name !== undefined && !name.includes("$") && { hostname: name }),
      },
    }),
    ...(connect !== undefined && { tcp: { connectTimeout: connect } }),
    ...(read !== undefined && { http: { requestTimeout: read } }),
  };
}

/** Returns the duration of a directive, which is skipped if it is a variable or malformed; `undefined` also if 0. */
export function durationOf(
  directive: Directive | undefined,
  taken: TakenDirectives,
): string | undefined {
  if (directive === undefined) return undefined;
  const text = directive.words.join(" ");
  const found = duration(text);
  if (found === undefined && !/^0\w*$/.test(text)) taken.skip(directive);
  return found;
}

/** Converts a duration of nginx: `60`, `60s`, `1h 30m`; `undefined` if it is 0, a variable or malformed. */
function duration(text: string): string | undefined {
  const parts = text.split(/\s+/).flatMap((word) => word.match(/\d+[a-zA-Z]*|.+/g) ?? []);
  const converted = parts.map((part) => {
    const [, count = "", unit = "s"] = /^(\d+)(ms|s|m|h|d|w|M|y)?$/.exec(part) ?? [];
    if (count === "") return undefined;
    const hours = HOURS[unit];
    return hours === undefined ? `${Number(count)}${unit}` : `${Number(count) * hours}h`;
  });
  const known = converted.filter((part) => part !== undefined);
  const isZero = known.every((part) => /^0\D/.test(part));
  return known.length < parts.length || isZero ? undefined : known.join("");
}

/** Hours of the units that gwc does not have. */
const HOURS: Readonly<Record<string, number>> = { d: 24, w: 168, M: 720, y: 8760 };
