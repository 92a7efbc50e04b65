import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type {
  AwsAuthConfig,
  AwsKeyTexts,
  AwsScope,
  AzureAuthConfig,
  CloudAuthConfig,
  GcpAuthConfig,
} from "../../model/cloud-credentials.ts";
import type { BackendConnection, BackendTlsNode, TcpConnection } from "../../model/connections.ts";
import type { HeaderChangesConfig } from "../../model/header-changes.ts";
import { forwardUrl, secureUrl } from "../../model/host-url.ts";
import { type SecretContext, withoutLiteral } from "../../model/literal-secrets.ts";
import type { ServerPolicies, TunnelConfig } from "../../model/server-policies.ts";
import {
  type BackendAuthConfig,
  type BackendTlsConfig,
  PLAIN_CONNECTION,
} from "../../model/server-policies.ts";
import type { MountedFile, Text } from "../../model/texts.ts";
import type {
  ClientCredentialsConfig,
  SignedTokenConfig,
  TokenExchangeConfig,
} from "../../model/token-exchange.ts";
import type { Section, Traffic } from "../../model/traffic.ts";
import type { ConnectionUseConfig } from "../../model/user-connections.ts";
import { resolveSigner } from "./client-authentication.ts";
import { resolveHeaderChanges } from "./header-changes.ts";
import { checkIdentityUse, type IdentityUseContext } from "./identity-use.ts";
import { addressedServer, type NamedServers } from "./named-server.ts";
import { resolveClientCredentials, resolveTokenExchange } from "./resolve-exchange.ts";
import { ownValue, resolveSent } from "./sent-credentials.ts";
import { checkTlsFiles, type FileLookup, readWhatIsHere } from "./tls-files.ts";

/** Services needed to resolve connections to backends. */
export interface ConnectionContext
  extends FileLookup,
    SecretContext,
    IdentityUseContext,
    NamedServers {
  /** Whether requests have a user, whose token they may get; absent if not. */
  readonly takesUsers?: boolean;
  /** Records parts of policies that must have an effect somewhere. */
  readonly sections: {
    meet(section: Section, carried: readonly Traffic[]): boolean;
  };
}

/**
 * Resolves the connection to a backend and reports mistakes. `aws` is the AWS service as far as it is known;
 * `traffic` is what is sent there.
 */
export function resolveConnection(
  { tls, auth, http, tcp, tunnel, requestHeaders, responseHeaders }: BackendPolicies,
  context: ConnectionContext,
  aws: Partial<AwsScope> = {},
  traffic: "requests" | "streams" = "requests",
): BackendConnection {
  if (tls !== undefined) meetOtherProtocols(tls, traffic, context);
  if (auth?.kind === "file" && auth.place === undefined && auth.file.kind === "path")
    readWhatIsHere(auth.file.file, auth.fileOrigin, context);
  const sent = resolveSent(auth, context);
  return {
    connectTimeout: tcp?.connectTimeout ?? PLAIN_CONNECTION.connectTimeout,
    ...(tcp?.keepAlive !== undefined && { keepAlive: tcp.keepAlive }),
    ...(tls && { tls: resolveTls(tls, context) }),
    ...version(tls, http, context.diagnostics),
    ...(http?.requestTimeout !== undefined && { requestTimeout: http.requestTimeout }),
    ...(tunnel && resolveTunnel(tunnel, context)),
    ...authorizationOf(auth, context),
    ...(sent.length > 0 && { sent }),
    ...(auth?.kind === "passthrough" && auth.place && { movedToken: auth.place }),
    ...(auth?.kind === "azure" && resolveAzure(auth, context)),
    ...(auth?.kind === "aws" && resolveAws(auth, aws, context)),
    ...(auth?.kind === "gcp" && resolveGcp(auth, context)),
    ...(requestHeaders && headersOf("requestHeaders", requestHeaders, context)),
    ...(responseHeaders && headersOf("responseHeaders", responseHeaders, context)),
    ...(auth?.kind === "tokenExchange" && exchangeOf(auth, context)),
    ...(auth?.kind === "clientCredentials" && clientCredentialsOf(auth, context)),
    ...(auth?.kind === "signedToken" && signedTokenOf(auth, context)),
    ...(auth?.kind === "userConnection" && userConnectionOf(auth, context)),
    isPassthrough: auth?.kind === "passthrough" || auth?.kind === "tokenExchange",
  };
}

/** Resolves a connection of users; reports it where requests have no user. */
function userConnectionOf(
  { kind: _, connectionOrigin: origin, ...use }: ConnectionUseConfig,
  { takesUsers = false, diagnostics }: ConnectionContext,
): Pick<BackendConnection, "userConnection"> {
  if (takesUsers) return { userConnection: { ...use, origin } };
  const params = { field: '"oauth"', actsOn: "MCP servers, and HTTP servers of a route" };
  diagnostics.report("misplaced-field", keyPlace(origin), { ...params, found: undefined });
  return {};
}

/** Resolves a key that is sent as Authorization. */
function authorizationOf(
  auth: BackendAuthConfig | undefined,
  context: SecretContext,
): Pick<BackendConnection, "authorization"> {
  if (auth?.kind === "key" && auth.place === undefined)
    return { authorization: bearer(keyOf(auth, context)) };
  return auth?.kind === "file" && auth.place === undefined ? { authorization: auth.file } : {};
}

/** Resolves the token exchange; returns an empty object if a mistake was reported. */
function exchangeOf(
  {
    origin: _,
    more: __,
    ...config
  }: TokenExchangeConfig<ServerPolicies> & Pick<BackendAuthConfig, "origin" | "more">,
  context: ConnectionContext,
): Pick<BackendConnection, "tokenExchange"> {
  const connection = (policies: ServerPolicies) => resolveConnection(policies, context);
  const tokenExchange = resolveTokenExchange(config, { ...context, connection });
  return tokenExchange === undefined ? {} : { tokenExchange };
}

/** Resolves the gateway's own token; returns an empty object if a mistake was reported. */
function clientCredentialsOf(
  config: ClientCredentialsConfig<ServerPolicies>,
  context: ConnectionContext,
): Pick<BackendConnection, "clientCredentials"> {
  const connection = (policies: ServerPolicies) => resolveConnection(policies, context);
  const clientCredentials = resolveClientCredentials(config, { ...context, connection });
  return clientCredentials === undefined ? {} : { clientCredentials };
}

/** Resolves a token that the gateway signs. */
function signedTokenOf(
  {
    origin: _,
    more: __,
    signer,
    ...token
  }: SignedTokenConfig & Pick<BackendAuthConfig, "origin" | "more">,
  context: ConnectionContext,
): Pick<BackendConnection, "signedToken"> {
  return { signedToken: { ...token, signer: resolveSigner(signer, context) } };
}

/** Resolves the tunnel; returns an empty object if the proxy is invalid (reported). */
function resolveTunnel(
  { proxy, policies, proxyOrigin }: TunnelConfig,
  context: ConnectionContext,
): Pick<BackendConnection, "tunnel"> {
  const { diagnostics } = context;
  const use = { origin: proxyOrigin, user: "backendTunnel", policies };
  const server = addressedServer(proxy, use, context);
  if (server === undefined || !isForProxies(server.policies, diagnostics)) {
    // Its own settings are checked all the same.
    resolveConnection(policies, context);
    return {};
  }
  const url = forwardUrl(server.host, server.hostOrigin, diagnostics);
  const { tls: ownTls, tcp, auth } = server.policies ?? {};
  const { connectTimeout, keepAlive, tls, authorization } = resolveConnection(
    { ...(ownTls && { tls: ownTls }), ...(tcp && { tcp }), ...(auth && { auth }) },
    context,
  );
  if (url === undefined) return {};
  if (typeof url === "string" && new URL(url).pathname !== "/") {
    const params = { field: '"host"', expected: "host:port or a URL of a proxy, without a path" };
    context.diagnostics.report("bad-format", proxyOrigin, params);
    return {};
  }
  const connection = {
    connectTimeout,
    ...(keepAlive !== undefined && { keepAlive }),
    ...(tls && { tls }),
    ...(authorization && { authorization }),
  };
  return { tunnel: { url: secureUrl(url, connection), ...connection } };
}

/** Reports settings of a named backend that connections to a proxy cannot have; returns whether there are none. */
function isForProxies(policies: BackendPolicies | undefined, diagnostics: Diagnostics): boolean {
  const { auth, http, tunnel, requestHeaders, responseHeaders, tls } = policies ?? {};
  const isKey = (auth?.kind === "key" || auth?.kind === "file") && auth.place === undefined;
  const isPlain = auth === undefined || (isKey && auth.more === undefined);
  const wrong = [
    ...(isPlain ? [] : [{ field: "backendAuth", origin: auth.origin }]),
    ...(tls?.alpn === undefined ? [] : [{ field: "alpn", origin: tls.alpnOrigin }]),
    { field: "http", origin: http?.origin },
    { field: "backendTunnel", origin: tunnel?.origin },
    { field: "requestHeaderModifier", origin: requestHeaders?.origin },
    { field: "responseHeaderModifier", origin: responseHeaders?.origin },
  ].filter(({ origin }) => origin !== undefined);
  for (const { field, origin } of wrong)
    if (origin !== undefined)
      diagnostics.report("misplaced-field", keyPlace(origin), {
        field: `"${field}"`,
        actsOn: "requests",
        found: "connections to a proxy",
      });
  return wrong.length === 0;
}

/** Resolves the header changes; returns an empty object if one is invalid (reported). */
function headersOf(
  part: "requestHeaders" | "responseHeaders",
  changes: HeaderChangesConfig,
  context: SecretContext,
): Pick<BackendConnection, typeof part> {
  const resolved = resolveHeaderChanges(changes, context);
  return resolved === undefined ? {} : { [part]: resolved };
}

/** Resolves the connection of a TCP route to a backend and reports mistakes. */
export function resolveTcpConnection(
  policies: BackendPolicies,
  context: ConnectionContext,
): TcpConnection {
  const { connectTimeout, keepAlive, tls } = resolveConnection(policies, context, {}, "streams");
  return {
    connectTimeout,
    ...(keepAlive !== undefined && { keepAlive }),
    ...(tls && { tls }),
    ...(policies.tls?.alpn && { alpn: policies.tls.alpn }),
  };
}

/**
 * Returns the key for a backend, without literal credentials; `undefined` if it has other credentials, or a place of
 * its own.
 */
export function backendKey(
  auth: BackendAuthConfig | undefined,
  context: SecretContext,
): Text | MountedFile | undefined {
  if (auth === undefined || ("place" in auth && auth.place !== undefined)) return undefined;
  if (auth.kind === "key") return keyOf(auth, context);
  return auth.kind === "file" ? auth.file : undefined;
}

/** Returns the credentials of a backend with default ones, unless it has a main one. */
export function withAmbient(
  auth: BackendAuthConfig | undefined,
  ambient: CloudAuthConfig | undefined,
  origin: Origin,
): BackendAuthConfig | undefined {
  if (ambient === undefined || (auth !== undefined && auth.kind !== "onlyMore")) return auth;
  return { ...ambient, origin, more: auth?.more };
}

function keyOf(
  { key, keyOrigin }: Extract<BackendAuthConfig, { readonly kind: "key" }>,
  context: SecretContext,
): Text {
  const instead = keyOrigin.resource && "put it into a Secret and refer to it in secretRef";
  const field = `"${keyOrigin.path.at(-1)}"`;
  return withoutLiteral(key, keyOrigin, { field, instead }, context);
}

/** Resolves AWS signing. Configured region and service override those of the host name. */
function resolveAws(
  auth: AwsAuthConfig & { readonly origin: Origin },
  found: Partial<AwsScope>,
  { diagnostics, literals }: SecretContext,
): Pick<BackendConnection, "credentials"> {
  const { origin, region = found.region, service = found.service, role } = auth;
  const keys = auth.keys && awsKeys(auth.keys, childOf(origin, "aws"), { diagnostics, literals });
  const at = childOf(origin, "aws");
  const hint = origin.resource && {
    hint: "name the service's own host in a static GatewayBackend: SERVICE.REGION.amazonaws.com",
  };
  for (const [what, known] of [
    ["region", region],
    ["service", service],
  ] as const) {
    if (known === undefined) diagnostics.report("unknown-aws-scope", at, { what, ...hint });
  }
  if (region === undefined || service === undefined) return {};
  return { credentials: { kind: "aws", keys, region, service, ...(role && { role }) } };
}

function awsKeys(keys: AwsKeyTexts, origin: Origin, context: SecretContext): AwsKeyTexts {
  if (keys.kind === "files") return keys;
  const hidden = (field: "secretAccessKey" | "sessionToken", text: Text) =>
    withoutLiteral(text, childOf(origin, field), { field: `"${field}"` }, context);
  const { accessKeyId, secretAccessKey, sessionToken } = keys.texts;
  return {
    kind: "texts",
    texts: {
      accessKeyId,
      secretAccessKey: hidden("secretAccessKey", secretAccessKey),
      sessionToken: sessionToken && hidden("sessionToken", sessionToken),
    },
  };
}

function resolveGcp(
  { kind, token, audience, credential }: GcpAuthConfig,
  context: ConnectionContext,
): Pick<BackendConnection, "credentials"> {
  const value = credential && ownValue(credential, context);
  return {
    credentials: { kind, token, audience, ...(value !== undefined && { credential: value }) },
  };
}

function resolveAzure(
  { kind, scope, source, origin }: AzureAuthConfig & { readonly origin: Origin },
  context: SecretContext,
): Pick<BackendConnection, "credentials"> {
  if (source.kind !== "clientSecret") return { credentials: { kind, scope, source } };
  const at = childOf(origin, "azure", "explicitConfig", "clientSecret", "client_secret");
  const field = { field: '"client_secret"' };
  const clientSecret = withoutLiteral(source.clientSecret, at, field, context);
  return { credentials: { kind, scope, source: { ...source, clientSecret } } };
}

/** Records ALPN protocols other than HTTP, which only have an effect on TCP routes. */
function meetOtherProtocols(
  { alpn = [], alpnOrigin }: BackendTlsConfig,
  traffic: "requests" | "streams",
  { sections }: ConnectionContext,
): void {
  alpn.forEach((name, index) => {
    if (name === "h2" || name === "http/1.1") return;
    sections.meet({ name, actsOn: ["streams"], origin: childOf(alpnOrigin, index) }, [traffic]);
  });
}

function resolveTls(
  { cert, key, roots, hostname, verification, identity, origin, ...tls }: BackendTlsConfig,
  context: ConnectionContext,
): BackendTlsNode {
  if (identity !== undefined) checkIdentityUse(identity, context);
  const { subjectAltNames, keyExchangeGroups: groups } = tls;
  const root = roots?.find(({ kind }) => kind === "path")?.file;
  checkTlsFiles({ cert: onDisk(cert), key: onDisk(key), root }, origin, context);
  return {
    ...(roots !== undefined && { authorities: roots }),
    ...(cert !== undefined && { certFile: cert }),
    ...(key !== undefined && { keyFile: key }),
    ...(hostname !== undefined && { serverName: hostname }),
    ...(subjectAltNames && { subjectAltNames: subjectAltNames.map(namePattern) }),
    ...(groups && { keyExchangeGroups: groups }),
    ...(identity && { identity }),
    verification,
  };
}

/** Returns a file on this machine; mounted files only exist where the gateway runs. */
function onDisk(file: string | MountedFile | undefined): string | undefined {
  return typeof file === "string" ? file : undefined;
}

/** Marks URIs, which are recognized by their scheme. */
function namePattern(name: string): string {
  return name.includes("://") ? `URI:${name}` : name;
}

/** Returns the protocol: `http.version`, or else the result of ALPN if configured, or else HTTP/1.1. */
function version(
  tls: BackendTlsConfig | undefined,
  http: BackendPolicies["http"],
  diagnostics: Diagnostics,
): Pick<BackendConnection, "version"> {
  const alpn = tls?.alpn;
  const wanted = http?.version;
  if (alpn !== undefined && wanted !== undefined) {
    const protocol = wanted === "HTTP2" ? "h2" : "http/1.1";
    if (tls !== undefined && !alpn.includes(protocol))
      diagnostics.report("alpn-version", tls.alpnOrigin, { version: wanted, protocol });
  }
  if (wanted === "HTTP2") return { version: "http2" };
  if (wanted === "HTTP1" || alpn?.includes("h2") !== true) return {};
  return { version: alpn.includes("http/1.1") ? "negotiated" : "http2" };
}

/** Returns the Authorization value for a key (RFC 6750 2.1). */
function bearer(key: Text): Text {
  return typeof key === "string"
    ? `Bearer ${key}`
    : { kind: "env", parts: ["Bearer ", ...key.parts] };
}
