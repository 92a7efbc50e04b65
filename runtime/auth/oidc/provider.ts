import type { JsonObject } from "../../cel/variables.ts";
import { type DocumentSettings, remoteDocument } from "../../http/upstream/remote-document.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { MINUTE } from "../../process/units.ts";
import type { KeySource } from "../jwt/key-source.ts";
import { remoteKeys } from "../jwt/remote-keys.ts";
import type { ClientMethod } from "../oauth/client-authentication.ts";

/** Where an OpenID provider is asked for what. */
export interface ProviderEndpoints {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** How clients say there who they are. */
  readonly tokenEndpointAuth: ClientMethod;
  /** Where browsers end their login at the provider (OpenID Connect RP-Initiated Logout). */
  readonly endSessionEndpoint?: string;
  /** Where tokens are given back (RFC 7009). */
  readonly revocationEndpoint?: string;
  /** Its responses name the issuer (RFC 9207). */
  readonly namesIssuer?: boolean;
}

/** An OpenID provider. */
export interface LoginProvider {
  /** Undefined: it can't be reached, and never could. Never rejects. */
  endpoints(gateway: GatewayContext): Promise<ProviderEndpoints | undefined>;
  /** The keys that it signs with. */
  readonly keys: KeySource;
}

/** A provider whose endpoints are configured. */
export function configuredProvider(endpoints: ProviderEndpoints, keys: KeySource): LoginProvider {
  return { endpoints: async () => endpoints, keys };
}

/**
 * A provider that says itself where its endpoints are (OpenID Connect Discovery 4). Its document is fetched when a login
 * needs it, and again as it ages; what it says of another issuer than this one is refused.
 */
export function discoveredProvider(issuer: string, url: string): LoginProvider {
  const settings: DocumentSettings = {
    name: `login provider ${url}`,
    what: "document of the login provider",
    urls: [url],
    accept: (document) => {
      if (document.issuer !== issuer) throw new Error("it is about another issuer");
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

/** Where an issuer's document is, unless the configuration says. */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

const MAX_AGE = 5 * MINUTE;

function readEndpoints(document: JsonObject): ProviderEndpoints {
  const authorizationEndpoint = address(document, "authorization_endpoint");
  const tokenEndpoint = address(document, "token_endpoint");
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    throw new Error("it names no endpoints for logins");
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

/** Undefined when it is absent. Throws for what is no address of a server. */
function address(document: JsonObject, name: string): string | undefined {
  const value = document[name];
  if (value === undefined) return undefined;
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new Error(`its ${name} is no URL`);
  return url.href;
}

/** OpenID Connect Discovery 3: without a word of it clients show their secret in Authorization. */
function clientMethod(supported: unknown): ClientMethod {
  if (!Array.isArray(supported) || supported.includes("client_secret_basic")) {
    return "clientSecretBasic";
  }
  if (supported.includes("client_secret_post")) return "clientSecretPost";
  throw new Error("it takes no client secret");
}
