import { defaultConnections } from "../../../runtime/net/default-connections.ts";
import type { BackendPoliciesValue } from "../../backends/parts/policies-schema.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies, BackendTlsConfig } from "../../model/backend-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { readKeepAlive } from "./frontend.ts";

/** The parts of a validated `policies` that say how a backend is reached; undefined when it has none. */
export function readBackendPolicies(
  policies: BackendPoliciesValue | undefined,
  origin: Origin,
): BackendPolicies | undefined {
  const { backendTLS, backendAuth, http, tcp } = policies ?? {};
  const read: BackendPolicies = {
    ...(backendTLS && { tls: readTls(backendTLS, childOf(origin, "backendTLS")) }),
    ...(backendAuth && { auth: readAuth(backendAuth, childOf(origin, "backendAuth")) }),
    ...(http && {
      http: {
        version: http.version,
        requestTimeout: time(http.requestTimeout),
        origin: childOf(origin, "http"),
      },
    }),
    ...(tcp && { tcp: readTcp(tcp, childOf(origin, "tcp")) }),
  };
  return Object.keys(read).length === 0 ? undefined : read;
}

type TlsValue = NonNullable<BackendPoliciesValue["backendTLS"]>;
type AuthValue = NonNullable<BackendPoliciesValue["backendAuth"]>;
type TcpValue = NonNullable<BackendPoliciesValue["tcp"]>;

function readTls(value: TlsValue, origin: Origin): BackendTlsConfig {
  return {
    cert: value.cert,
    key: value.key,
    root: value.root,
    hostname: value.hostname,
    verification: value.insecure === true ? "none" : value.insecureHost === true ? "chain" : "full",
    alpn: value.alpn,
    subjectAltNames: value.subjectAltNames,
    origin,
    alpnOrigin: childOf(origin, "alpn"),
  };
}

function readAuth({ key }: AuthValue, origin: Origin): NonNullable<BackendPolicies["auth"]> {
  if (key === undefined) return { kind: "passthrough", origin };
  if (typeof key === "string" || "kind" in key) return { kind: "key", key, origin };
  return { kind: "file", file: { kind: "path", file: key.file }, origin };
}

function readTcp(value: TcpValue, origin: Origin): NonNullable<BackendPolicies["tcp"]> {
  const keepAlive = value.keepalives ?? value.keepalive;
  return {
    keepAlive: keepAlive && readKeepAlive(keepAlive, defaultConnections.keepAlive),
    connectTimeout: time(value.connectTimeout),
    origin,
  };
}

function time(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTimer(text);
}
