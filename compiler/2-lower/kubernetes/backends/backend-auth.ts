import { readSigner } from "../../../backends/parts/client-authentication.ts";
import { AZURE_SCOPE } from "../../../backends/parts/cloud-schema.ts";
import {
  type AzureAuthValue,
  backendAuth,
  type ClientAuthValue,
  type crossAppAccess,
  type oauthTokenExchange,
} from "../../../backends/parts/manifest-auth.ts";
import { readAwsRole } from "../../../backends/parts/read-connection.ts";
import {
  BEARER,
  clientCredentialsParts,
  crossAppExchange,
  readTokenSource,
  sharedFields,
} from "../../../backends/parts/read-exchange.ts";
import { readSentPlace } from "../../../backends/parts/sent-credentials.ts";
import { readSignedToken } from "../../../backends/parts/signed-token.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { AwsKeyTexts, AzureAuthConfig } from "../../../model/cloud-credentials.ts";
import type { SecretContent } from "../../../model/secret-contents.ts";
import type { SentCredentialConfig } from "../../../model/sent-credentials.ts";
import type { BackendAuthConfig, ServerPolicies } from "../../../model/server-policies.ts";
import type { MountedFile } from "../../../model/texts.ts";
import type {
  ExchangeClientConfig,
  TokenEndpointConfig,
  TokenExchangeConfig,
} from "../../../model/token-exchange.ts";
import { DEFAULT_USER_CLAIM } from "../../../model/user-connections.ts";
import { type Infer, validated } from "../../../schema/schema.ts";
import { secretFiles, secretHasKey } from "../inventory/secrets.ts";
import type { FieldValue } from "../policies/merge.ts";
import type { PolicyContext } from "../policies/policy-context.ts";

/** Reads the credentials that the gateway sends to a backend. */
export function readBackendAuth(
  { value, origin, source: from }: FieldValue,
  gateway: Manifest,
  context: PolicyContext,
): BackendAuthConfig {
  const given = validated(backendAuth, value);
  const more = given.credentials?.flatMap(({ location, secretRef }, index) => {
    const at = childOf(origin, "credentials", index, "secretRef");
    const place = readSentPlace(location);
    const key = { ...secretRef, use: { from, gateway, origin: at } };
    return place === undefined ? [] : [{ ...secretValue(key, "sentKey", context), place }];
  });
  const main = readMainAuth(given, { from, gateway, origin }, context);
  return { ...main, ...(more && { more }) };
}

/** A Secret that a policy refers to: the policy, its Gateway, and the location. */
interface SecretPlace {
  readonly from: Manifest;
  readonly gateway: Manifest;
  readonly origin: Origin;
}

function readMainAuth(
  { key, secretRef, passthrough, location, ...others }: Infer<typeof backendAuth>,
  use: SecretPlace,
  context: PolicyContext,
): BackendAuthConfig {
  const { origin } = use;
  const { aws, azure, gcp, oauthTokenExchange: exchange, crossAppAccess: access } = others;
  const { jwtSign, oauth, clientCredentials } = others;
  const below = (...path: readonly string[]): SecretPlace => ({
    ...use,
    origin: childOf(origin, ...path),
  });
  // A missing or invalid endpoint has already been reported.
  const withoutToken: BackendAuthConfig = { kind: "passthrough", origin };
  if (exchange !== undefined) {
    const found = readExchange(exchange, below("oauthTokenExchange"), context);
    return found === undefined ? withoutToken : { ...found, origin };
  }
  if (access !== undefined) {
    const found = readCrossApp(access, below("crossAppAccess"), context);
    return found === undefined ? withoutToken : { ...found, origin };
  }
  if (oauth !== undefined) {
    const { connection: name, page, userClaim: claim = DEFAULT_USER_CLAIM } = oauth;
    const owner = use.from.namespace;
    const connectionOrigin = childOf(origin, "oauth");
    return { kind: "userConnection", name, page, claim, owner, connectionOrigin, origin };
  }
  if (clientCredentials !== undefined) {
    const endpoint = readEndpoint(clientCredentials, below("clientCredentials"), context);
    return endpoint === undefined
      ? withoutToken
      : { ...endpoint, ...clientCredentialsParts(clientCredentials), origin };
  }
  if (jwtSign !== undefined) {
    const { signingKeyRef, ...token } = jwtSign;
    const secret = { key: "signingKey", ...signingKeyRef, use: below("jwtSign", "signingKeyRef") };
    return { ...readSignedToken(token, secretValue(secret, "privateKey", context)), origin };
  }
  if (aws !== undefined) {
    const { secretRef: named, region, serviceName: service, assumeRole } = aws;
    const keys = named && awsKeys(named.name, below("aws", "secretRef"), context);
    return {
      kind: "aws",
      keys,
      region,
      service,
      role: assumeRole && readAwsRole(assumeRole),
      origin,
    };
  }
  if (azure !== undefined)
    return { ...readAzure(azure, below("azure", "secretRef"), context), origin };
  if (gcp !== undefined) {
    const { type, audience, secretRef: named } = gcp;
    const secret = named && { key: "credentials.json", ...named, use: below("gcp", "secretRef") };
    const credential = secret && secretValue(secret, "googleCredentials", context);
    return {
      kind: "gcp",
      token: type === "IdToken" ? "id" : "access",
      audience,
      credential,
      origin,
    };
  }
  const place = readSentPlace(location);
  if (key !== undefined)
    return { kind: "key", key, keyOrigin: childOf(origin, "key"), place, origin };
  if (secretRef !== undefined) {
    const content = place === undefined ? "authorization" : "sentKey";
    const secret = { ...secretRef, use: below("secretRef") };
    const { value: file, valueOrigin: fileOrigin } = secretValue(secret, content, context);
    return { kind: "file", file, fileOrigin, place, origin };
  }
  return passthrough === undefined
    ? { kind: "onlyMore", origin }
    : { kind: "passthrough", place, origin };
}

/** Returns an entry of a Secret as a mounted file. */
function secretValue(
  { name, key = "Authorization", use }: { name: string; key?: string; use: SecretPlace },
  content: SecretContent,
  context: PolicyContext,
): Pick<SentCredentialConfig, "valueOrigin"> & { readonly value: MountedFile } {
  const [file = ""] = secretFiles({ ...use, name, keys: [key], content }, context);
  return { value: { kind: "secret", file }, valueOrigin: use.origin };
}

function readExchange(
  value: Infer<typeof oauthTokenExchange>,
  use: SecretPlace,
  context: PolicyContext,
): TokenExchangeConfig<ServerPolicies> | undefined {
  const { grantType, subjectToken = {}, actorToken: actor, requestedTokenType, cache } = value;
  const endpoint = readEndpoint(value, use, context);
  if (endpoint === undefined) return undefined;
  return {
    ...sharedFields({ ...value, cache: cache?.inMemory }, use.origin),
    ...endpoint,
    grant: grantType === "JwtBearer" ? "jwtBearer" : "tokenExchange",
    subject: readTokenSource(subjectToken.source, childOf(use.origin, "subjectToken", "source")),
    subjectType: tokenType(subjectToken.tokenType ?? "AccessToken"),
    actor: actor && {
      source: readTokenSource(actor.source, childOf(use.origin, "actorToken", "source")),
      type: tokenType(actor.tokenType ?? "AccessToken"),
      mustBePermitted: actor.mayAct === "Required",
    },
    requestedType: requestedTokenType && tokenType(requestedTokenType),
    target: readSentPlace(value.location) ?? BEARER,
  };
}

function readCrossApp(
  value: Infer<typeof crossAppAccess>,
  use: SecretPlace,
  context: PolicyContext,
): TokenExchangeConfig<ServerPolicies> | undefined {
  const { subjectToken: { source, tokenType: type = "IdToken" } = {}, cache } = value;
  const at = (part: string) => ({ ...use, origin: childOf(use.origin, part) });
  const first = readEndpoint(value.identityProvider, at("identityProvider"), context);
  const second = value.resourceAuthorizationServer;
  const next = readEndpoint(second, at("resourceAuthorizationServer"), context);
  if (first === undefined || next === undefined) return undefined;
  const subject = readTokenSource(source, childOf(use.origin, "subjectToken", "source"));
  const tokens = { first, next, subject, subjectType: tokenType(type) };
  return crossAppExchange({ ...value, cache: cache?.inMemory }, use.origin, tokens);
}

/** Reads a token endpoint; returns `undefined` if it is missing or invalid (reported). */
function readEndpoint(
  {
    url = "",
    path = "/",
    backendRef,
    clientAuth,
  }: Pick<Infer<typeof oauthTokenExchange>, "url" | "path" | "backendRef" | "clientAuth">,
  use: SecretPlace,
  context: PolicyContext,
): TokenEndpointConfig<ServerPolicies> | undefined {
  const { from, gateway, origin } = use;
  const at = { ...use, origin: childOf(origin, "clientAuth") };
  const client = clientAuth && readClient(clientAuth, at, context);
  if (backendRef !== undefined) {
    const place = childOf(origin, "backendRef");
    const server = context.tokenServer({ reference: backendRef, from, gateway, origin: place });
    return (
      server && { host: server.url, hostOrigin: place, path, policies: server.policies, client }
    );
  }
  // An invalid URL has already been reported.
  if (!URL.canParse(url)) return undefined;
  const { origin: host, pathname, search } = new URL(url);
  return { host, hostOrigin: childOf(origin, "url"), path: `${pathname}${search}`, client };
}

function readClient(
  { clientId, secretRef, method, privateKeyJwt }: ClientAuthValue,
  use: SecretPlace,
  context: PolicyContext,
): ExchangeClientConfig {
  const at = (...parts: readonly string[]) => ({ ...use, origin: childOf(use.origin, ...parts) });
  if (privateKeyJwt !== undefined) {
    const { signingKeyRef, assertionAudience: audience, ...rest } = privateKeyJwt;
    const { certificateRef, certificateHeader: header, ...given } = rest;
    const place = at("privateKeyJwt", "signingKeyRef");
    const secret = { key: "signingKey", ...signingKeyRef, use: place };
    const key = secretValue(secret, "privateKey", context);
    const of = at("privateKeyJwt", "certificateRef");
    const certificate = certificateRef &&
      header && {
        header,
        chain: secretValue(
          { key: "certificate", ...certificateRef, use: of },
          "authorities",
          context,
        ),
      };
    const signer = { ...readSigner(given, key), ...(certificate && { certificate }) };
    return { kind: "assertion", clientId, signer, audience };
  }
  if (secretRef === undefined) return { kind: "public", clientId };
  const named = { key: "clientSecret", ...secretRef, use: at("secretRef") };
  const secret = secretValue(named, "clientSecret", context);
  const isPost = method === "ClientSecretPost";
  return {
    kind: "secret",
    clientId,
    secret,
    method: isPost ? "clientSecretPost" : "clientSecretBasic",
  };
}

/** Returns the URI of a token type; unknown names are URIs themselves (RFC 8693 3). */
function tokenType(name: string): string {
  const known = new Map([
    ["AccessToken", "access_token"],
    ["Jwt", "jwt"],
    ["IdToken", "id_token"],
    ["IdJag", "id-jag"],
  ]).get(name);
  return known === undefined ? name : `urn:ietf:params:oauth:token-type:${known}`;
}

/** Reads the Entra credentials: an application in a Secret, a managed identity, or the gateway's own identity. */
function readAzure(
  { secretRef, managedIdentity, workloadIdentity, scope = AZURE_SCOPE }: AzureAuthValue,
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
  if (workloadIdentity !== undefined)
    return { kind: "azure", scope, source: { kind: "workloadIdentity" } };
  if (secretRef === undefined) return { kind: "azure", scope, source: { kind: "ambient" } };
  const { from, gateway, origin } = use;
  const keys = ["tenantId", "clientId", "clientSecret"];
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

/** Returns the keys of a Secret: `accessKey`, `secretKey` and optionally `sessionToken`. */
function awsKeys(name: string, use: SecretPlace, context: PolicyContext): AwsKeyTexts {
  const { from, gateway, origin } = use;
  const hasToken = secretHasKey(name, "sessionToken", from, context);
  const keys = ["accessKey", "secretKey", ...(hasToken ? ["sessionToken"] : [])];
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
