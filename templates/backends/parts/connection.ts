import type {
  BackendConnection,
  BackendTlsNode,
  TcpConnection,
  TunnelNode,
} from "../../../compiler/model/connections.ts";
import type { SentCredentialNode } from "../../../compiler/model/sent-credentials.ts";
import type { MountedFile, Text } from "../../../compiler/model/texts.ts";
import type {
  ClientCredentialsNode,
  ExchangeClientNode,
  SignedTokenNode,
  TokenEndpointNode,
  TokenExchangeNode,
  TokenSourceNode,
} from "../../../compiler/model/token-exchange.ts";
import type { KeepAlive } from "../../../runtime/net/connection-settings.ts";
import { code, literal } from "../../code/code.ts";
import { exchangeFunction } from "../../code/exchange-function.ts";
import { filePath, isText } from "../../code/file-path.ts";
import { headerChanges } from "../../code/header-list.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { milliseconds } from "../../code/units.ts";
import { cloudCredential } from "./cloud-credentials.ts";
import { upstreamUrl } from "./upstream-url.ts";

/**
 * Opens the connections to an upstream. `credential`: signs its requests, in addition to the connection's own
 * credentials.
 */
export function upstreamCode(
  url: Text,
  connection: BackendConnection,
  credential?: Printable,
): Code {
  const open = imported("gwc/runtime/http/upstream/open-upstream", "openUpstream");
  return code`${open}(${literal(upstreamSettings(url, connection, credential))})`;
}

/**
 * Opens the connections to an upstream of forwarded requests, below the path of its address; `more`: further
 * settings.
 */
export function forwardCode(
  url: Text,
  connection: BackendConnection,
  more: Readonly<Record<string, Printable>> = {},
): Code {
  const open = imported("gwc/runtime/http/upstream/open-upstream", "openUpstream");
  return code`${open}(${literal({ ...forwardSettings(url, connection), ...more })})`;
}

/** Returns the same as settings, for backends that open connections to each server of an address. */
export function forwardSettings(
  url: Text,
  connection: BackendConnection,
): Readonly<Record<string, Printable | undefined>> {
  const settings = upstreamSettings(url, connection);
  if (typeof url === "string") return settings;
  const check = imported("gwc/runtime/process/startup-values", "baseUrl");
  const checked = code`${check}(${literal(upstreamUrl(url, connection.tls !== undefined))})`;
  return { ...settings, url: checked };
}

/**
 * Returns the address and connection of an upstream, as the runtime expects them. `credential`: one in addition to the
 * connection's own.
 */
export function upstreamSettings(
  url: Text,
  connection: BackendConnection,
  credential?: Printable,
): Readonly<Record<string, Printable | undefined>> {
  const {
    credentials,
    tokenExchange,
    clientCredentials,
    signedToken,
    movedToken,
    sent = [],
  } = connection;
  // Signatures cover the other credentials.
  const all = [
    ...(credential === undefined ? [] : [credential]),
    ...(movedToken === undefined
      ? []
      : [code`${imported(SENT, "movedToken")}(${literal({ ...movedToken })})`]),
    ...(tokenExchange === undefined ? [] : [exchangeCode(tokenExchange)]),
    ...(clientCredentials === undefined ? [] : [clientCredentialsCode(clientCredentials)]),
    ...(signedToken === undefined ? [] : [signedTokenCode(signedToken)]),
    ...sent.map(sentCode),
    ...(credentials === undefined ? [] : [cloudCredential(credentials, url)]),
  ];
  return {
    url: upstreamUrl(url, connection.tls !== undefined),
    ...connectionSettings(connection),
    ...(all.length > 0 && { credential: all.length === 1 ? all[0] : joinedCredentials(all) }),
    ...(credentials?.kind === "aws" && { signsBody: true }),
  };
}

const SENT = "gwc/runtime/auth/sent-credential";

function joinedCredentials(credentials: readonly Printable[]): Code {
  return code`${imported(SENT, "allCredentials")}(${literal(credentials)})`;
}

function sentCode({ value, place }: SentCredentialNode): Code {
  const [open, key] = isText(value)
    ? (["sentKey", literal(value)] as const)
    : (["sentKeyFile", filePath(value)] as const);
  return code`${imported(SENT, open)}(${literal({ ...place })}, ${key})`;
}

/** Writes the exchange of the client's token. */
function exchangeCode(node: TokenExchangeNode<BackendConnection>): Code {
  const { kind: _, url: __, client: ___, connection: ____, ...fields } = node;
  const { subject, target, actor, next, parameters, ...rest } = fields;
  const settings = {
    ...rest,
    ...endpointSettings(node),
    subject: sourceSettings(subject),
    actor: actor && { ...actor, source: sourceSettings(actor.source) },
    next: next && { ...endpointSettings(next), scopes: next.scopes },
    target: { ...target },
    parameters: parameters.map(({ name, value }) => [
      name,
      typeof value === "string" ? value : exchangeFunction(value),
    ]),
    defaultLifetime: milliseconds(rest.defaultLifetime),
  };
  const exchange = imported("gwc/runtime/auth/oauth/token-exchange", "exchangeCredential");
  return code`${exchange}(${literal(settings)})`;
}

function sourceSettings(source: TokenSourceNode): Printable {
  if (!("expression" in source)) return { ...source };
  return { expression: exchangeFunction(source.expression) };
}

/** Writes the token of the gateway itself. */
function clientCredentialsCode(node: ClientCredentialsNode<BackendConnection>): Code {
  const { audiences, scopes, resources, target, defaultLifetime } = node;
  const settings = {
    ...endpointSettings(node),
    ...{ audiences, scopes, resources, target: { ...target } },
    defaultLifetime: milliseconds(defaultLifetime),
  };
  return code`${imported("gwc/runtime/auth/oauth/client-credentials", "clientCredentials")}(${literal(settings)})`;
}

function endpointSettings({ url, connection, client }: TokenEndpointNode<BackendConnection>) {
  return {
    url: upstreamUrl(url, false),
    server: connection && upstreamCode(url, connection),
    client: client && clientSettings(client),
  };
}

function clientSettings(client: ExchangeClientNode): Readonly<Record<string, Printable>> {
  const { clientId } = client;
  switch (client.kind) {
    case "public":
      return { clientId };
    case "secret":
      return { clientId, clientSecret: clientSecretCode(client.secret), method: client.method };
    case "assertion": {
      const sign = imported("gwc/runtime/auth/oauth/client-assertion", "clientAssertion");
      const settings = { ...signerSettings(client.signer), audience: client.audience };
      return { clientId, parameters: code`${sign}(${literal(settings)})` };
    }
  }
}

function signedTokenCode({ signer, claims, lifetime, target }: SignedTokenNode): Code {
  const settings = {
    ...signerSettings(signer),
    claims,
    lifetime: milliseconds(lifetime),
    target: { ...target },
  };
  return code`${imported(SIGNED, "signedToken")}(${literal(settings)})`;
}

const SIGNED = "gwc/runtime/auth/signed-jwt";
const CERTIFICATE = "gwc/runtime/auth/signer-certificate";

function signerSettings({ key, algorithm, keyId, certificate }: SignedTokenNode["signer"]) {
  const [load, from] = isText(key)
    ? [imported(SIGNED, "signingKey"), literal(key)]
    : [imported(SIGNED, "signingKeyFile"), filePath(key)];
  return {
    key: code`${load}(${from}, ${literal(algorithm)})`,
    algorithm,
    keyId,
    certificate: certificate && certificateCode(certificate),
  };
}

function certificateCode({
  chain,
  header,
}: NonNullable<SignedTokenNode["signer"]["certificate"]>): Code {
  const [load, from] = isText(chain)
    ? [imported(CERTIFICATE, "signerCertificate"), literal(chain)]
    : [imported(CERTIFICATE, "signerCertificateFile"), filePath(chain)];
  return code`${load}(${from}, ${literal(header)})`;
}

/** Writes the secret of a client; changes of a file are reloaded. */
export function clientSecretCode(secret: Text | MountedFile): Printable {
  if (typeof secret === "string" || secret.kind === "env") return secret;
  const open = imported("gwc/runtime/auth/oauth/client-authentication", "clientSecretFile");
  return code`${open}(${filePath(secret)})`;
}

/** Returns the settings of a connection, without the address. */
export function connectionSettings({
  tls,
  isPassthrough: _,
  credentials: __,
  tokenExchange: ___,
  clientCredentials: ________,
  signedToken: ______,
  sent: ____,
  movedToken: _____,
  userConnection: _______,
  keepAlive,
  authorization,
  connectTimeout,
  requestTimeout,
  tunnel,
  requestHeaders,
  responseHeaders,
  version,
  ...rest
}: BackendConnection): Readonly<Record<string, Printable | undefined>> {
  return {
    connectTimeout: milliseconds(connectTimeout),
    requestTimeout: requestTimeout && milliseconds(requestTimeout),
    ...rest,
    version: version && versionCode(version),
    keepAlive: keepAlive === undefined ? undefined : keepAliveSettings(keepAlive),
    tunnel: tunnel && tunnelSettings(tunnel),
    tls: tls && tlsSettings(tls),
    authorization: authorization && credential(authorization),
    requestHeaders: requestHeaders && headerChanges(requestHeaders),
    responseHeaders: responseHeaders && headerChanges(responseHeaders),
  };
}

const NODE = "gwc/runtime/http/upstream/node";

/** Returns the class that sends requests with a version of HTTP other than 1.1. */
function versionCode(version: NonNullable<BackendConnection["version"]>): Code {
  const upstream =
    version === "http2"
      ? imported(`${NODE}/http2-upstream`, "Http2Upstream")
      : imported(`${NODE}/negotiated-upstream`, "NegotiatedUpstream");
  return code`${upstream}`;
}

function tunnelSettings({
  url,
  connectTimeout,
  keepAlive,
  tls,
  authorization: shown,
}: TunnelNode): Code {
  const through = imported(`${NODE}/proxy-tunnel`, "throughProxy");
  const settings = {
    ...(shown && proxyAuthorization(shown)),
    url: upstreamUrl(url, tls !== undefined),
    connectTimeout: milliseconds(connectTimeout),
    keepAlive: keepAlive === undefined ? undefined : keepAliveSettings(keepAlive),
    tls: tls && tlsSettings(tls),
  };
  return code`${through}(${literal(settings)})`;
}

function proxyAuthorization(shown: Text | MountedFile): Readonly<Record<string, Printable>> {
  return typeof shown === "string" || shown.kind === "env"
    ? { authorization: shown }
    : { authorizationFile: filePath(shown) };
}

/** Writes TCP keepalive, as the runtime expects it. */
export function keepAliveSettings(settings: KeepAlive): Printable {
  if (settings === false) return false;
  const { time, interval, retries } = settings;
  return { time: milliseconds(time), interval: milliseconds(interval), retries };
}

/** Returns the statement that restores the client's credentials for a backend that may see them. */
export function passthrough(connections: readonly BackendConnection[]): readonly Code[] {
  if (!connections.some(({ isPassthrough }) => isPassthrough)) return [];
  return [code`${imported("gwc/runtime/auth/credentials", "restoreCredentials")}(exchange);`];
}

/** Writes TLS to an upstream, as the runtime expects it. */
function tlsSettings({
  authorities,
  certFile,
  keyFile,
  serverName,
  subjectAltNames,
  keyExchangeGroups,
  identity,
  verification,
}: BackendTlsNode): Printable {
  return {
    authorities: authorities?.map(filePath),
    certFile: certFile && filePath(certFile),
    keyFile: keyFile && filePath(keyFile),
    serverName,
    subjectAltNames: subjectAltNames && [...subjectAltNames],
    keyExchangeGroups: keyExchangeGroups && [...keyExchangeGroups],
    identity: identity && imported("gwc/runtime/tls/workload-identity", "workloadIdentity"),
    verification,
  };
}

/** Writes a PEM file that is reloaded when it changes, as mounted Secrets do. */
function credential(value: Text | MountedFile): Printable {
  if (typeof value === "string" || value.kind === "env") return value;
  const open = imported("gwc/runtime/http/upstream/credential-file", "credentialFile");
  return code`${open}(${filePath(value)})`;
}

/** Writes the path of a file that the gateway reads. */
export function mountedFile(file: Text | MountedFile): Code {
  return filePath(file);
}

/** Writes how connections are passed on, as the runtime expects it. */
export function tcpSettings({
  tls,
  keepAlive,
  connectTimeout,
  ...rest
}: TcpConnection): Readonly<Record<string, Printable | undefined>> {
  return {
    connectTimeout: milliseconds(connectTimeout),
    ...rest,
    keepAlive: keepAlive === undefined ? undefined : keepAliveSettings(keepAlive),
    tls: tls && tlsSettings(tls),
  };
}
