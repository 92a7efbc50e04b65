import {
  type AzureAuthValue,
  backendAuth,
  type oauthTokenExchange,
} from "../../../1-parse/kubernetes/schemas/backend-auth.ts";
import { AZURE_SCOPE } from "../../../backends/parts/cloud-schema.ts";
import { readAwsRole } from "../../../backends/parts/read-connection.ts";
import { readSentPlace } from "../../../backends/parts/sent-credentials.ts";
import { BEARER, sharedFields } from "../../../backends/parts/token-exchange.ts";
import { childOf, type Origin } from "../../../diagnostics/diagnostic.ts";
import type { Manifest } from "../../../manifests/manifests.ts";
import type { AwsKeyTexts, AzureAuthConfig } from "../../../model/cloud-credentials.ts";
import type { SecretContent } from "../../../model/secret-contents.ts";
import type { SentCredentialConfig } from "../../../model/sent-credentials.ts";
import type { BackendAuthConfig } from "../../../model/server-policies.ts";
import type { MountedFile } from "../../../model/texts.ts";
import type { TokenExchangeConfig } from "../../../model/token-exchange.ts";
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
  const { aws, azure, gcp, oauthTokenExchange: exchange } = others;
  const below = (...path: readonly string[]): SecretPlace => ({
    ...use,
    origin: childOf(origin, ...path),
  });
  if (exchange !== undefined) return readExchange(exchange, below("oauthTokenExchange"), context);
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
): BackendAuthConfig {
  const at = use.origin;
  const secretOrigin = childOf(at, "clientAuth", "secretRef");
  const reference = value.clientAuth?.secretRef;
  const secret = reference && {
    ...{ key: "clientSecret", ...reference },
    use: { ...use, origin: secretOrigin },
  };
  const file = secret && secretValue(secret, "clientSecret", context).value.file;
  const exchange = lowerTokenExchange(value, { file: file ?? "", origin: secretOrigin }, at);
  const origin = { ...at, path: at.path.slice(0, -1) };
  return exchange === undefined ? { kind: "passthrough", origin } : { ...exchange, origin };
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
    subject: BEARER,
    subjectType: tokenType(subjectToken.tokenType ?? "AccessToken"),
    requestedType: requestedTokenType && tokenType(requestedTokenType),
    target: readSentPlace(value.location) ?? BEARER,
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
