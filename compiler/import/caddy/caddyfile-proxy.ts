import type { Directive, TakenDirectives } from "../directives/directive.ts";
import { FORWARDED, merged } from "../proxy/route-draft.ts";
import { hasUser } from "../proxy/texts.ts";
import type { CaddyStep } from "./caddy-steps.ts";
import {
  type HeaderChange,
  headerChange,
  requestHeaderPolicies,
  responseHeaderPolicies,
} from "./caddy-values.ts";

/** Converts `reverse_proxy`; `words` are its servers, without the matcher. */
export function proxyStep(
  directive: Directive,
  words: readonly string[],
  taken: TakenDirectives,
): CaddyStep {
  const place = taken.place(directive);
  const block = directive.block ?? [];
  taken.take(directive, "alone");
  const servers = [...words];
  const up: HeaderChange[] = [];
  const down: HeaderChange[] = [];
  const notes: string[] = [];
  let connection: Readonly<Record<string, unknown>> = {};
  let policies: Readonly<Record<string, unknown>> = {};
  for (const each of block) {
    const problem = `${taken.place(each)}: ${each.name}`;
    const change = headerChange(each.words);
    if (each.name === "to") servers.push(...each.words);
    else if (each.name === "header_up" || each.name === "header_down") {
      if (change === undefined) return { kind: "problem", text: problem };
      (each.name === "header_up" ? up : down).push(change);
    } else if (each.name === "lb_policy" && /^(client_)?ip_hash$/.test(each.words[0] ?? ""))
      policies = { sessionAffinity: { source: "source.address" } };
    else if (each.name === "transport") {
      const found = transportOf(each, taken, notes);
      if (found === undefined) return { kind: "problem", text: problem };
      connection = found;
      taken.take(each, "alone");
      continue;
    } else if (
      /^(lb_|health_|fail_|max_fails|unhealthy_|flush_interval|stream_|request_buffers|response_buffers|verbose_logs|trusted_proxies)/.test(
        each.name,
      )
    ) {
      if (/^(lb_|health_|fail_|max_fails|unhealthy_)/.test(each.name))
        notes.push(
          `${taken.place(each)}: ${each.name} is skipped; see the policies health and retry`,
        );
      continue;
    } else return { kind: "problem", text: problem };
    taken.take(each);
  }
  const isSecure = servers.some((server) => server.startsWith("https://"));
  if (isSecure && !("backendTLS" in connection)) connection = { ...connection, backendTLS: {} };
  if (
    servers.some((server) =>
      /^h2c:|[{}](?<!\})|^(srv|dynamic)\+/.test(server.replace(/\$\{[^}]*\}/g, "")),
    )
  )
    return { kind: "problem", text: `${place}: gwc does not support the address of a server` };
  if (servers.length === 0) return { kind: "problem", text: `${place}: no server given` };
  if (servers.some(hasUser))
    return { kind: "problem", text: `${place}: the URL of a server has a user or password` };
  if (isSecure)
    notes.push(
      `${place}: the Host header is rewritten to the server's name, as in Caddy 2.11 and later`,
    );
  if (servers.length > 1)
    notes.push(`${place}: Caddy picks a server at random; gwc uses them in turn`);
  const own = Object.keys(connection).length > 0 ? { policies: connection } : {};
  const host = { hostRewrite: { mode: isSecure ? "Auto" : "None" } };
  const request = requestHeaderPolicies(up, place, notes);
  return {
    kind: "end",
    policies: merged(
      merged(merged(FORWARDED, host), request),
      merged(policies, responseHeaderPolicies(down, place, notes)),
    ),
    backends: servers.map((server) => ({ host: serverOf(server), ...own })),
    notes,
  };
}

function serverOf(server: string): string {
  const socket = /^unix\/\/?(\/.*)$/.exec(server)?.[1];
  if (socket !== undefined) return `unix:${socket}`;
  const [, scheme = "http", rest = server] = /^(https?):\/\/([^/]*)\/?$/.exec(server) ?? [];
  const host = rest.startsWith(":") ? `localhost${rest}` : rest;
  // A variable may include a port.
  if (/:\d+$/.test(host) || host.endsWith("}")) return host;
  return `${host}:${scheme === "https" ? 443 : 80}`;
}

/** Converts `transport http { tls ... }`; `undefined` if gwc has no counterpart. */
function transportOf(
  { words, block = [] }: Directive,
  taken: TakenDirectives,
  notes: string[],
): Readonly<Record<string, unknown>> | undefined {
  if (words[0] !== "http") return undefined;
  const tls: Record<string, unknown> = {};
  const connection: Record<string, unknown> = {};
  for (const each of block) {
    const [value = ""] = each.words;
    if (each.name === "tls") connection.backendTLS = tls;
    else if (each.name === "tls_insecure_skip_verify") {
      tls.insecure = true;
      connection.backendTLS = tls;
      notes.push(`${taken.place(each)}: the server's certificate is not verified`);
    } else if (each.name === "tls_server_name") {
      tls.hostname = value;
      connection.backendTLS = tls;
    } else if (each.name === "tls_trusted_ca_certs" && each.words.length === 1) {
      tls.root = value;
      connection.backendTLS = tls;
    } else if (each.name === "dial_timeout" && /^\d+(ms|s|m)$/.test(value))
      connection.tcp = { connectTimeout: value };
    else if (each.name === "response_header_timeout" && /^\d+(ms|s|m)$/.test(value))
      connection.http = { requestTimeout: value };
    else if (
      /^(keepalive|compression|read_buffer|write_buffer|max_conns|read_timeout|write_timeout|expect_continue|resolvers)/.test(
        each.name,
      )
    )
      continue;
    else return undefined;
    taken.take(each);
  }
  return connection;
}
