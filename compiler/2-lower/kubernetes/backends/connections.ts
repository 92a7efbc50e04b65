import { defaultConnections } from "../../../../runtime/net/default-connections.ts";
import {
  type AzureAuthValue,
  backendAuth,
  httpFields,
  type oauthTokenExchange,
  tcpFields,
} from "../../../1-parse/kubernetes/schemas/connection.ts";
import { AZURE_SCOPE } from "../../../backends/parts/connection-schema.ts";
import { headerPlace, sharedFields } from "../../../backends/parts/token-exchange.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import { guarded } from "../../../diagnostics/guarded.ts";
import type { Manifest, ServicePort } from "../../../manifests/manifests.ts";
import type { BackendPolicies } from "../../../model/backend-policies.ts";
import type { AwsKeyTexts, AzureAuthConfig } from "../../../model/cloud-credentials.ts";
import type { MountedFile } from "../../../model/texts.ts";
import type { TokenExchangeConfig } from "../../../model/token-exchange.ts";
import { parseTimer } from "../../../schema/duration.ts";
import { readKeepAlive } from "../../../schema/keep-alive.ts";
import { type Infer, type Schema, validated } from "../../../schema/schema.ts";
import { secretFiles, secretHasKey } from "../inventory/secrets.ts";
import type { EffectiveField, FieldValue } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";
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
    ...part(auth, (field) => ({ auth: readAuth(field, gateway, context) })),
  };
  const { tls: secure, ...rest } = withProtocol(config, destination);
  const { serverName: hostname } = destination;
  const policies = {
    ...rest,
    ...(secure && {
      tls: {
        ...secure,
        hostname: secure.hostname ?? hostname,
        ...(secure.cert === undefined && gatewayCertificate(gateway, context)),
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
  const rest = defaultConnections.keepAlive;
  return {
    ...(tcp && {
      tcp: {
        keepAlive:
          keepalive && readKeepAlive(validated(tcpFields.keepalive, keepalive.value), rest),
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

function readAuth(
  { value, origin, source }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): NonNullable<BackendPolicies["auth"]> {
  const { key, secretRef, aws, azure, gcp, oauthTokenExchange } = validated(backendAuth, value);
  if (oauthTokenExchange !== undefined) {
    const at = childOf(origin, "oauthTokenExchange");
    const { clientAuth } = oauthTokenExchange;
    const secretOrigin = childOf(at, "clientAuth", "secretRef");
    const use = {
      keys: ["clientSecret"] as const,
      content: "clientSecret" as const,
      from: source,
      gateway,
      origin: secretOrigin,
    };
    const [file = ""] =
      clientAuth === undefined
        ? []
        : secretFiles({ ...use, name: clientAuth.secretRef.name }, context);
    const secret = { file, origin: secretOrigin };
    const exchange = lowerTokenExchange(oauthTokenExchange, secret, at);
    return exchange === undefined ? { kind: "passthrough", origin } : { ...exchange, origin };
  }
  if (aws !== undefined) {
    const at = childOf(origin, "aws", "secretRef");
    const keys = aws.secretRef && awsKeys(aws.secretRef.name, { source, gateway, at }, context);
    return { kind: "aws", keys, region: undefined, service: undefined, origin };
  }
  if (azure !== undefined) {
    const at = childOf(origin, "azure", "secretRef");
    return { ...readAzure(azure, { source, gateway, at }, context), origin };
  }
  if (gcp !== undefined) {
    const token = gcp.type === "IdToken" ? "id" : "access";
    return { kind: "gcp", token, audience: gcp.audience, origin };
  }
  if (key !== undefined) return { kind: "key", key, keyOrigin: childOf(origin, "key"), origin };
  if (secretRef === undefined) return { kind: "passthrough", origin };
  const use = { keys: ["Authorization"], content: "authorization", from: source, gateway } as const;
  const at = childOf(origin, "secretRef");
  const [file = ""] = secretFiles({ ...use, name: secretRef.name, origin: at }, context);
  return { kind: "file", file: { kind: "secret", file }, origin };
}

/**
 * Reads `oauthTokenExchange` of manifests; returns `undefined` without a valid URL. `secret` is the mounted client
 * secret.
 */
function lowerTokenExchange(
  value: Infer<typeof oauthTokenExchange>,
  secret: { readonly file: string; readonly origin: Origin },
  origin: Origin,
): TokenExchangeConfig | undefined {
  const { url = "", clientAuth, grantType, subjectToken = {}, requestedTokenType } = value;
  // An invalid URL has already been reported.
  if (!URL.canParse(url)) return undefined;
  const { origin: host, pathname, search } = new URL(url);
  return {
    ...sharedFields(value, origin),
    host,
    hostOrigin: childOf(origin, "url"),
    path: `${pathname}${search}`,
    client: clientAuth && {
      clientId: clientAuth.clientId,
      clientSecret: { kind: "secret", file: secret.file },
      method: clientAuth.method === "ClientSecretPost" ? "clientSecretPost" : "clientSecretBasic",
      secretOrigin: secret.origin,
    },
    grant: grantType === "JwtBearer" ? "jwtBearer" : "tokenExchange",
    subject: headerPlace(undefined),
    subjectType: tokenType(subjectToken.tokenType ?? "AccessToken"),
    requestedType: requestedTokenType && tokenType(requestedTokenType),
    target: headerPlace(value.location?.header),
  };
}

/** Returns the URI of a token type; unknown names are URIs themselves (RFC 8693 3). */
function tokenType(name: string): string {
  const known = new Map([
    ["AccessToken", "access_token"],
    ["Jwt", "jwt"],
    ["IdToken", "id_token"],
  ]).get(name);
  return known === undefined ? name : `urn:ietf:params:oauth:token-type:${known}`;
}

/** Reads the Entra credentials: an application in a Secret, a managed identity, or the gateway's own identity. */
function readAzure(
  { secretRef, managedIdentity, scope = AZURE_SCOPE }: AzureAuthValue,
  use: SecretPlace,
  context: PolicyContext,
): AzureAuthConfig {
  if (managedIdentity !== undefined) {
    // The metadata service refuses requests with several ids.
    const names = ["clientId", "objectId", "resourceId"] as const;
    const first = names.find((name) => managedIdentity[name] !== undefined);
    const identity = first === undefined ? {} : { [first]: managedIdentity[first] };
    return { kind: "azure", scope, source: { kind: "managedIdentity", identity } };
  }
  if (secretRef === undefined) return { kind: "azure", scope, source: { kind: "ambient" } };
  const { source: from, gateway, at: origin } = use;
  const keys = ["tenantId", "clientId", "clientSecret"] as const;
  const { name } = secretRef;
  const [tenantId, clientId, clientSecret] = secretFiles(
    { name, keys, content: "word", from, gateway, origin },
    context,
  ).map((file): MountedFile => ({ kind: "secret", file }));
  // A missing key has already been reported.
  if (tenantId === undefined || clientId === undefined || clientSecret === undefined)
    return { kind: "azure", scope, source: { kind: "ambient" } };
  const files = { tenantId, clientId, clientSecret };
  return { kind: "azure", scope, source: { kind: "mountedSecret", files } };
}

/** A Secret that a policy refers to: the policy, its Gateway, and the location. */
interface SecretPlace {
  readonly source: Manifest;
  readonly gateway: Manifest;
  readonly at: Origin;
}

/** Returns the keys of a Secret: `accessKey`, `secretKey` and optionally `sessionToken`. */
function awsKeys(name: string, use: SecretPlace, context: PolicyContext): AwsKeyTexts {
  const { source: from, gateway, at: origin } = use;
  const hasToken = secretHasKey(name, "sessionToken", from, context);
  const keys = [
    "accessKey",
    "secretKey",
    ...(hasToken ? (["sessionToken"] as const) : []),
  ] as const;
  secretFiles({ name, keys, content: "word", from, gateway, origin }, context);
  const file = (key: string): MountedFile => ({ kind: "secret", file: `${name}/${key}` });
  return {
    kind: "files",
    files: {
      accessKeyId: file("accessKey"),
      secretAccessKey: file("secretKey"),
      sessionToken: hasToken ? file("sessionToken") : undefined,
    },
  };
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
