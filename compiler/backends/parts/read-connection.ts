import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import type { AwsRole, CloudAuthConfig } from "../../model/cloud-credentials.ts";
import { DEFAULT_USER_CLAIM } from "../../model/user-connections.ts";
import { AZURE_SCOPE } from "./cloud-schema.ts";
import type { ConnectionValue } from "./connection-schema.ts";
import {
  readClientCredentials,
  readCrossAppAccess,
  readTokenExchange,
} from "./exchange-file-form.ts";
import { readServerConnection } from "./read-server-connection.ts";
import { readMoreCredentials, readSecretValue, readSentPlace } from "./sent-credentials.ts";
import { readSignedToken } from "./signed-token.ts";

/** Reads the connection policies of `policies`, for any protocol. `keys`: other names of fields there. */
export function readConnection(
  { backendAuth, ...server }: ConnectionValue,
  origin: Origin,
  keys: Readonly<Record<string, string>> = {},
): BackendPolicies {
  const at = childOf(origin, keys.backendAuth ?? "backendAuth");
  return {
    ...readServerConnection(server, origin, keys),
    ...(backendAuth && { auth: readAuth(backendAuth, at) }),
  };
}

type AuthValue = NonNullable<ConnectionValue["backendAuth"]>;

function readAuth(value: AuthValue, origin: Origin): NonNullable<BackendPolicies["auth"]> {
  const more = readMoreCredentials(value.credentials, childOf(origin, "credentials"));
  return { ...readMainAuth(value, origin), ...(more && { more }) };
}

function readMainAuth(value: AuthValue, origin: Origin): NonNullable<BackendPolicies["auth"]> {
  const { key, passthrough, aws, azure, gcp } = value;
  const { oauthTokenExchange, crossAppAccess, jwtSign, oauth, clientCredentials } = value;
  if (oauth !== undefined) {
    const { connection: name, page, userClaim: claim = DEFAULT_USER_CLAIM } = oauth;
    const connectionOrigin = childOf(origin, "oauth");
    return { kind: "userConnection", name, page, claim, connectionOrigin, origin };
  }
  if (clientCredentials !== undefined)
    return {
      ...readClientCredentials(clientCredentials, childOf(origin, "clientCredentials")),
      origin,
    };
  if (crossAppAccess !== undefined) {
    const at = childOf(origin, "crossAppAccess");
    return { ...readCrossAppAccess(crossAppAccess, at), origin };
  }
  if (jwtSign !== undefined) {
    const { signingKey, ...token } = jwtSign;
    const signer = readSecretValue(signingKey, childOf(origin, "jwtSign", "signingKey"));
    return { ...readSignedToken(token, signer), origin };
  }
  if (oauthTokenExchange !== undefined) {
    const at = childOf(origin, "oauthTokenExchange");
    return { ...readTokenExchange(oauthTokenExchange, at), origin };
  }
  if (azure !== undefined) return { ...readAzure(azure), origin };
  if (aws !== undefined) return { ...readAws(aws), origin };
  if (gcp !== undefined) {
    const { type, audience, credential } = gcp;
    const token = type === "IdToken" || type === "idToken" ? "id" : "access";
    const at = childOf(origin, "gcp", "credential");
    const own = credential === undefined ? undefined : readSecretValue(credential, at);
    return { kind: "gcp", token, audience, credential: own, origin };
  }
  if (passthrough !== undefined)
    return { kind: "passthrough", place: readSentPlace(passthrough.location), origin };
  return key === undefined ? { kind: "onlyMore", origin } : readKey(key, origin);
}

function readKey(
  key: NonNullable<AuthValue["key"]>,
  origin: Origin,
): NonNullable<BackendPolicies["auth"]> {
  const at = childOf(origin, "key");
  const isBare = typeof key === "string" || "kind" in key;
  const place = isBare ? undefined : readSentPlace(key.location);
  const isOfValue = !isBare && key.value !== undefined;
  const given = isBare ? key : (key.value ?? { file: key.file ?? "" });
  const secret = readSecretValue(given, isOfValue ? childOf(at, "value") : at);
  return { ...keyOf(secret), place, origin };
}

/** Returns the authentication with a key from the environment or a file, without its place in requests. */
export function keyOf({
  value,
  valueOrigin,
}: ReturnType<typeof readSecretValue>):
  | Pick<Extract<BackendAuth, { kind: "key" }>, "kind" | "key" | "keyOrigin">
  | Pick<Extract<BackendAuth, { kind: "file" }>, "kind" | "file" | "fileOrigin"> {
  return typeof value === "string" || value.kind === "env"
    ? { kind: "key", key: value, keyOrigin: valueOrigin }
    : { kind: "file", file: value, fileOrigin: valueOrigin };
}

type BackendAuth = NonNullable<BackendPolicies["auth"]>;

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
  serviceName,
  service = serviceName,
  assumeRole,
}: NonNullable<AuthValue["aws"]>): CloudAuthConfig {
  const keys =
    accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { kind: "texts" as const, texts: { accessKeyId, secretAccessKey, sessionToken } };
  return { kind: "aws", keys, region, service, role: assumeRole && readAwsRole(assumeRole) };
}

/** Reads `assumeRole` of `aws`. */
export function readAwsRole({
  roleArn,
  sessionName = "gwc",
  tags = [],
}: NonNullable<NonNullable<AuthValue["aws"]>["assumeRole"]>): AwsRole {
  return { arn: roleArn, session: sessionName, tags: tags.map(({ key, value }) => [key, value]) };
}
