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
  const policies = connectionPolicies(scope, scheme === "https", notes, taken.place(pass));
  const upstream = upstreams.find(({ words }) => words[0] === server);
  const servers = upstream === undefined ? undefined : serversOf(upstream, notes, taken);
  if (typeof servers === "string") return servers;
  const hosts = servers ?? [{ host: withPort(server, scheme) }];
  const own = Object.keys(policies).length > 0 ? { policies } : {};
  return {
    backends: hosts.map((each) => ({ ...each, ...own })),
    policies: affinity(upstream),
    path,
    group: upstream === undefined ? undefined : server,
    notes,
  };
}

function withPort(server: string, scheme: string): string {
  if (/:\d+$/.test(server)) return plainText(server);
  return plainText(`${server}:${scheme === "https" ? 443 : 80}`);
}

/** Converts the servers of an `upstream`. */
function serversOf(
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

function affinity(upstream: Directive | undefined): DraftFields {
  const isByAddress = upstream?.block?.some(({ name }) => name === "ip_hash") === true;
  return isByAddress ? { sessionAffinity: { source: "source.address" } } : {};
}

function connectionPolicies(
  scope: NginxScope,
  isSecure: boolean,
  notes: string[],
  place: string,
): DraftFields {
  const connect = duration(scope.word("proxy_connect_timeout"));
  const read = duration(scope.word("proxy_read_timeout"));
  const root = scope.word("proxy_ssl_trusted_certificate");
  const name = scope.word("proxy_ssl_name");
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

/** Converts a duration of nginx: `60`, `60s`, `1m`; `undefined` if it is absent, 0 or malformed. */
function duration(text: string | undefined): string | undefined {
  const [, count, unit = "s"] = /^(\d+)(ms|s|m|h)?$/.exec(text ?? "") ?? [];
  return count === undefined || Number(count) === 0 ? undefined : `${count}${unit}`;
}
