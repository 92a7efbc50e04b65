import type { JsonObject } from "../../cel/variables.ts";
import { type DocumentSettings, remoteDocument } from "../../http/upstream/remote-document.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { MINUTE } from "../../process/units.ts";
import type { KeySource } from "../jwt/key-source.ts";
import { remoteKeys } from "../jwt/remote-keys.ts";
import type { ClientMethod } from "../oauth/client-authentication.ts";

/** Endpoints of an OpenID provider. */
export interface ProviderEndpoints {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** Authentication method of clients at the token endpoint. */
  readonly tokenEndpointAuth: ClientMethod;
  /** Endpoint where browsers end their login at the provider (OpenID Connect RP-Initiated Logout). */
  readonly endSessionEndpoint?: string;
  /** Endpoint that revokes tokens (RFC 7009). */
  readonly revocationEndpoint?: string;
  /** Whether its responses name the issuer (RFC 9207). */
  readonly namesIssuer?: boolean;
}

/** An OpenID provider. */
export interface LoginProvider {
  /** Returns `undefined` if the provider is unreachable and always was. Never rejects. */
  endpoints(gateway: GatewayContext): Promise<ProviderEndpoints | undefined>;
  /** Keys of its signatures. */
  readonly keys: KeySource;
}

/** Returns a provider with configured endpoints. */
export function configuredProvider(endpoints: ProviderEndpoints, keys: KeySource): LoginProvider {
  return { endpoints: async () => endpoints, keys };
}

/**
 * Returns a provider with discovered endpoints (OpenID Connect Discovery 4). Its document is fetched for the first login,
 * and refreshed as it ages; a document of another issuer is refused.
 */
export function discoveredProvider(issuer: string, url: string): LoginProvider {
  const settings: DocumentSettings = {
    name: `login provider ${url}`,
    what: "document of the login provider",
    urls: [url],
    accept: (document) => {
      if (document.issuer !== issuer) throw new Error("it names another issuer");
      readEndpoints(document);
      keySetUrl(document);
    },
  };
  const known = (gateway: GatewayContext): JsonObject | undefined =>
    remoteDocument(gateway, settings).current(MAX_AGE);
  const found = async (gateway: GatewayContext): Promise<JsonObject | undefined> =>
    known(gateway) ?? (await remoteDocument(gateway, settings).renewed());
  const sources = new Map<string, KeySource>();
  const keysOf = (document: JsonObject): KeySource => {
    const address = keySetUrl(document);
    const source = sources.get(address) ?? remoteKeys({ url: address, cacheDuration: MAX_AGE });
    sources.set(address, source);
    return source;
  };
  return {
    endpoints: async (gateway) => {
      const document = await found(gateway);
      return document && readEndpoints(document);
    },
    keys: {
      current: (gateway) => {
        const document = known(gateway);
        return document && keysOf(document).current(gateway);
      },
      renewed: async (gateway) => {
        const document = await found(gateway);
        return document && keysOf(document).renewed(gateway);
      },
    },
  };
}

/** Returns the URL of an issuer's document, unless it is configured. */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

const MAX_AGE = 5 * MINUTE;

function readEndpoints(document: JsonObject): ProviderEndpoints {
  const authorizationEndpoint = address(document, "authorization_endpoint");
  const tokenEndpoint = address(document, "token_endpoint");
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw new Error('"authorization_endpoint" or "token_endpoint" is missing');
  }
  const endSessionEndpoint = address(document, "end_session_endpoint");
  const revocationEndpoint = address(document, "revocation_endpoint");
  return {
    authorizationEndpoint,
    tokenEndpoint,
    tokenEndpointAuth: clientMethod(document.token_endpoint_auth_methods_supported),
    ...(endSessionEndpoint !== undefined && { endSessionEndpoint }),
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    namesIssuer: document.authorization_response_iss_parameter_supported === true,
  };
}

function keySetUrl(document: JsonObject): string {
  const url = address(document, "jwks_uri");
  if (url === undefined) throw new Error("it names no key set");
  return url;
}

/** Returns `undefined` if it is absent. Throws if it is not an HTTP URL. */
function address(document: JsonObject, name: string): string | undefined {
  const value = document[name];
  if (value === undefined) return undefined;
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(`its ${name} is not a URL`);
  return url.href;
}

/** Without declared methods, clients send their secret in Authorization (OpenID Connect Discovery 3). */
function clientMethod(supported: unknown): ClientMethod {
  if (!Array.isArray(supported) || supported.includes("client_secret_basic")) {
    return "clientSecretBasic";
  }
  if (supported.includes("client_secret_post")) return "clientSecretPost";
  throw new Error("it does not accept client secrets");
}
