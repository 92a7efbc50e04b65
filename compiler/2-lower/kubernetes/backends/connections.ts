import { httpFields, tcpFields } from "../../../backends/parts/manifest-connection.ts";
import type { Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest, ServicePort } from "../../../manifests/manifests.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import { parseTimer } from "../../../schema/duration.ts";
import { readKeepAlive } from "../../../schema/keep-alive.ts";
import { type Schema, validated } from "../../../schema/schema.ts";
import type { EffectiveField, FieldValue } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
import { readBackendAuth } from "./backend-auth.ts";
import { readBackendTls } from "./backend-tls.ts";
import { gatewayCertificate } from "./gateway-certificate.ts";

/** A server and the facts that determine how to connect to it. */
export interface ConnectionDestination {
  /** Port of its Service. */
  readonly port: ServicePort | undefined;
  /** Name in its certificate, if it is reached by an address instead of its name. */
  readonly serverName: string | undefined;
  /** Whether gRPC calls are sent to it; absent if not. */
  readonly isGrpc?: boolean;
  readonly origin: Origin;
}

/** Reads the connection policies of a server from its effective fields; its Service's port fills in the protocol. */
export function connectionOf(
  fields: readonly EffectiveField[],
  destination: ConnectionDestination,
  gateway: Manifest,
  context: PolicyContext,
): BackendPolicies | undefined {
  const given = new Map(
    fields.map(({ field, values }) => [field.slice("backend.".length), values]),
  );
  const only = (field: string): FieldValue | undefined => given.get(field)?.at(-1);
  const [tls, auth] = [only("tls"), only("auth")];
  const part = (field: FieldValue | undefined, read: (field: FieldValue) => BackendPolicies) =>
    field && guarded(field.origin, context.diagnostics, () => read(field));
  const config: BackendPolicies = {
    ...plainPolicies(only),
    ...part(tls, (field) => ({ tls: readBackendTls(field, gateway, context) })),
    ...part(auth, (field) => ({ auth: readBackendAuth(field, gateway, context) })),
  };
  const { tls: secure, ...rest } = withProtocol(config, destination);
  const { serverName: hostname } = destination;
  const policies = {
    ...rest,
    ...(secure && {
      tls: {
        ...secure,
        hostname: secure.hostname ?? hostname,
        ...(secure.cert === undefined &&
          secure.identity === undefined &&
          gatewayCertificate(gateway, context)),
      },
    }),
  };
  return Object.keys(policies).length === 0 ? undefined : policies;
}

/** Reads TCP and HTTP settings, whose fields may come from several policies. */
function plainPolicies(only: (field: string) => FieldValue | undefined): BackendPolicies {
  const [keepalive, connectTimeout] = [only("tcp.keepalive"), only("tcp.connectTimeout")];
  const [version, requestTimeout] = [only("http.version"), only("http.requestTimeout")];
  const tcp = (keepalive ?? connectTimeout)?.origin;
  const http = (version ?? requestTimeout)?.origin;
  return {
    ...(tcp && {
      tcp: {
        keepAlive: keepalive && readKeepAlive(validated(tcpFields.keepalive, keepalive.value)),
        connectTimeout: timeOf(tcpFields.connectTimeout, connectTimeout),
        origin: tcp,
      },
    }),
    ...(http && {
      http: {
        version: version && validated(httpFields.version, version.value),
        requestTimeout: timeOf(httpFields.requestTimeout, requestTimeout),
        origin: http,
      },
    }),
  };
}

/** Returns milliseconds. */
function timeOf(schema: Schema<string>, field: FieldValue | undefined): number | undefined {
  return field && parseTimer(validated(schema, field.value));
}

/** Values of a Service port's `appProtocol` (KEP-3726, and IANA's names) for HTTP/2 and for TLS. */
const HTTP2: readonly string[] = ["kubernetes.io/h2c", "h2c", "http2", "grpc"];
const SECURE: readonly string[] = ["https", "kubernetes.io/wss", "wss"];

/** Adds the protocol of a Service's port, unless a policy sets one. */
function withProtocol(
  config: BackendPolicies,
  { port, isGrpc = false, origin }: ConnectionDestination,
): BackendPolicies {
  const protocol = port?.appProtocol ?? "";
  const { http, tls } = config;
  const isHttp2 =
    (isGrpc || HTTP2.includes(protocol)) && http?.version === undefined && tls?.alpn === undefined;
  const isSecure = SECURE.includes(protocol) && tls === undefined;
  return {
    ...config,
    ...(isHttp2 && {
      http: { requestTimeout: undefined, origin, ...http, version: "HTTP2" as const },
    }),
    ...(isSecure && { tls: { ...SYSTEM_TLS, origin, alpnOrigin: origin } }),
  };
}

/** TLS verified with the system's CA certificates and the name of the destination. */
const SYSTEM_TLS = {
  cert: undefined,
  key: undefined,
  roots: undefined,
  hostname: undefined,
  verification: "full",
  alpn: undefined,
  subjectAltNames: undefined,
} as const;
