import { defaultConnections } from "../../../runtime/net/default-connections.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { CloudAuthConfig } from "../../model/cloud-credentials.ts";
import type { BackendTlsConfig } from "../../model/server-policies.ts";
import { parseTimer } from "../../schema/duration.ts";
import { readKeepAlive } from "../../schema/keep-alive.ts";
import { AZURE_SCOPE, type ConnectionValue } from "./connection-schema.ts";
import { readTokenExchange } from "./token-exchange.ts";

/** Reads the connection policies of `policies`, for any protocol. `keys`: other names of fields there. */
export function readConnection(
  { backendTLS, backendAuth, http, tcp }: ConnectionValue,
  origin: Origin,
  keys: Readonly<Record<string, string>> = {},
): BackendPolicies {
  const at = (part: string) => childOf(origin, keys[part] ?? part);
  return {
    ...(backendTLS && { tls: readTls(backendTLS, at("backendTLS")) }),
    ...(backendAuth && { auth: readAuth(backendAuth, at("backendAuth")) }),
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

type TlsValue = NonNullable<ConnectionValue["backendTLS"]>;
type AuthValue = NonNullable<ConnectionValue["backendAuth"]>;
type TcpValue = NonNullable<ConnectionValue["tcp"]>;

function readTls(value: TlsValue, origin: Origin): BackendTlsConfig {
  return {
    cert: value.cert,
    key: value.key,
    roots: value.root === undefined ? undefined : [{ kind: "path", file: value.root }],
    hostname: value.hostname,
    verification: value.insecure === true ? "none" : value.insecureHost === true ? "chain" : "full",
    alpn: value.alpn,
    subjectAltNames: value.subjectAltNames,
    origin,
    alpnOrigin: childOf(origin, "alpn"),
  };
}

function readAuth(
  { key, aws, azure, gcp, oauthTokenExchange }: AuthValue,
  origin: Origin,
): NonNullable<BackendPolicies["auth"]> {
  if (oauthTokenExchange !== undefined) {
    const at = childOf(origin, "oauthTokenExchange");
    return { ...readTokenExchange(oauthTokenExchange, at), origin };
  }
  if (azure !== undefined) return { ...readAzure(azure), origin };
  if (aws !== undefined) return { ...readAws(aws), origin };
  if (gcp !== undefined) {
    const token = gcp.type === "IdToken" || gcp.type === "idToken" ? "id" : "access";
    return { kind: "gcp", token, audience: gcp.audience, origin };
  }
  if (key === undefined) return { kind: "passthrough", origin };
  if (typeof key === "string" || "kind" in key) {
    return { kind: "key", key, keyOrigin: childOf(origin, "key"), origin };
  }
  return { kind: "file", file: { kind: "path", file: key.file }, origin };
}

function readAzure({
  explicitConfig = {},
  scope = AZURE_SCOPE,
}: NonNullable<AuthValue["azure"]>): CloudAuthConfig {
  const { clientSecret, managedIdentity, workloadIdentity } = explicitConfig;
  if (clientSecret !== undefined) {
    const { tenant_id: tenantId, client_id: clientId, client_secret } = clientSecret;
    const source = {
      kind: "clientSecret",
      tenantId,
      clientId,
      clientSecret: client_secret,
    } as const;
    return { kind: "azure", scope, source };
  }
  if (managedIdentity !== undefined) {
    const identity = managedIdentity.userAssignedIdentity ?? {};
    return { kind: "azure", scope, source: { kind: "managedIdentity", identity } };
  }
  const kind = workloadIdentity === undefined ? "ambient" : "workloadIdentity";
  return { kind: "azure", scope, source: { kind } };
}

function readAws({
  accessKeyId,
  secretAccessKey,
  sessionToken,
  region,
  service,
}: NonNullable<AuthValue["aws"]>): CloudAuthConfig {
  const keys =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { kind: "texts" as const, texts: { accessKeyId, secretAccessKey, sessionToken } };
  return { kind: "aws", keys, region, service };
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
