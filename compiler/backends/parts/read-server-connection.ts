import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendTlsConfig, ServerPolicies } from "../../model/server-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { readKeepAlive } from "../../schema/keep-alive.ts";
import { opensslGroup } from "../../schema/key-exchange.ts";
import type { ServerConnectionValue } from "./server-connection-schema.ts";

/** Reads the connection policies of a server, without its credentials. `keys`: other names of fields there. */
export function readServerConnection(
  { backendTLS, http, tcp }: ServerConnectionValue,
  origin: Origin,
  keys: Readonly<Record<string, string>> = {},
): ServerPolicies {
  const at = (part: string) => childOf(origin, keys[part] ?? part);
  return {
    ...(backendTLS && { tls: readTls(backendTLS, at("backendTLS")) }),
    ...(http && {
      http: {
        version: http.version,
        requestTimeout: time(http.requestTimeout),
        origin: childOf(origin, "http"),
      },
    }),
    ...(tcp && { tcp: readTcp(tcp, childOf(origin, "tcp")) }),
  };
}

type TlsValue = NonNullable<ServerConnectionValue["backendTLS"]>;
type TcpValue = NonNullable<ServerConnectionValue["tcp"]>;

function readTls(value: TlsValue, origin: Origin): BackendTlsConfig {
  return {
    cert: value.cert,
    key: value.key,
    roots: value.root === undefined ? undefined : [{ kind: "path", file: value.root }],
    hostname: value.hostname,
    verification: value.insecure === true ? "none" : value.insecureHost === true ? "chain" : "full",
    alpn: value.alpn,
    subjectAltNames: value.subjectAltNames,
    keyExchangeGroups: value.keyExchangeGroups?.map(opensslGroup),
    ...(value.spiffe && { identity: { kind: "workloadApi", origin: childOf(origin, "spiffe") } }),
    origin,
    alpnOrigin: childOf(origin, "alpn"),
  };
}

function readTcp(value: TcpValue, origin: Origin): NonNullable<ServerPolicies["tcp"]> {
  const keepAlive = value.keepalives ?? value.keepalive;
  return {
    keepAlive: keepAlive && readKeepAlive(keepAlive),
    connectTimeout: time(value.connectTimeout),
    origin,
  };
}

function time(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTimer(text);
}
