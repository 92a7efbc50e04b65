import type { JsonObject } from "../../cel/variables.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { SECOND } from "../../process/units.ts";
import {
  type ClientMethod,
  type ClientSecret,
  tokenRequest,
} from "../oauth/client-authentication.ts";
import { requestTokens } from "../oauth/request-tokens.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import type { GrantClient, Grants } from "./grants.ts";

/** A client that the operator has registered at the authorization server. */
export interface ConfiguredClient {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: ClientSecret;
}

/** URLs at which the authorization server finds the gateway. */
export interface ClientPlace {
  /** URL to which it returns browsers. */
  readonly redirectUri: string;
  /** URL of the document about the client. */
  readonly documentUrl: string;
}

/**
 * Returns the gateway's client at an authorization server: the configured one, the URL of its document, or one that is registered
 * now and stored. Throws an Error that says what failed.
 */
export async function clientAt(
  server: AuthorizationServer,
  configured: ConfiguredClient | undefined,
  place: ClientPlace,
  grants: Grants,
): Promise<GrantClient> {
  if (configured !== undefined) return configuredClient(configured, server.methods);
  if (server.takesClientDocuments && place.documentUrl.startsWith("https:"))
    return { clientId: place.documentUrl, method: "none" };
  if (server.registrationEndpoint === undefined)
    throw new Error("the authorization server does not register clients: configure a clientId");
  const name = JSON.stringify([server.issuer, place.redirectUri]);
  return (await grants.client(name)) ?? registered(server, name, place, grants);
}

/** Returns a configured client. `methods`: those that the authorization server names. */
export function configuredClient(
  { clientId, clientSecret: secret }: ConfiguredClient,
  methods: readonly string[],
): GrantClient {
  if (secret === undefined) return { clientId, method: "none" };
  const clientSecret = typeof secret === "string" ? secret : secret();
  return { clientId, clientSecret, method: secretMethod(methods) };
}

/** Returns the document about the client (OAuth Client ID Metadata Document, RFC 7591 2). */
export function clientDocument({ redirectUri, documentUrl }: ClientPlace): JsonObject {
  return {
    client_id: documentUrl,
    ...description(redirectUri),
    token_endpoint_auth_method: "none",
  };
}

function description(redirectUri: string): JsonObject {
  return {
    client_name: "gwc",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "web",
  };
}

async function registered(
  { registrationEndpoint = "", methods }: AuthorizationServer,
  name: string,
  { redirectUri }: ClientPlace,
  grants: Grants,
): Promise<GrantClient> {
  const isPublic = methods.includes("none");
  const method = isPublic ? "none" : secretMethod(methods);
  const body = { ...description(redirectUri), token_endpoint_auth_method: WORDS[method] };
  const response = await fetchResponse(
    {
      method: "POST",
      url: registrationEndpoint,
      headers: ["content-type", "application/json", "accept", "application/json"],
      body: Buffer.from(JSON.stringify(body)),
    },
    { maxBytes: 131_072, deadline: 5 * SECOND },
  );
  if (response.status !== 201 && response.status !== 200)
    throw new Error(`the registration failed: status ${response.status}`);
  const {
    client_id: clientId,
    client_secret: secret,
    client_secret_expires_at: end,
  } = Object(JSON.parse(response.body.toString("utf8")));
  if (typeof clientId !== "string" || clientId === "") throw new Error("it registered no client");
  const client: GrantClient =
    typeof secret === "string" && method !== "none"
      ? { clientId, clientSecret: secret, method }
      : { clientId, method: "none" };
  await grants.keepClient(
    name,
    client,
    typeof end === "number" && end > 0 ? end * SECOND : undefined,
  );
  return client;
}

const WORDS = {
  none: "none",
  clientSecretBasic: "client_secret_basic",
  clientSecretPost: "client_secret_post",
} as const;

/** Without declared methods, clients send their secret in Authorization (RFC 8414 2). */
function secretMethod(methods: readonly string[]): ClientMethod {
  const isBasic = methods.length === 0 || methods.includes("client_secret_basic");
  return isBasic ? "clientSecretBasic" : "clientSecretPost";
}

/** Requests tokens as a client. Throws TokensRefused for a refusal, and an Error for an unusable response. */
export function requestAs(
  { clientId, clientSecret, method }: GrantClient,
  url: string,
  form: readonly (readonly [name: string, value: string])[],
): Promise<JsonObject> {
  if (method === "none" || clientSecret === undefined)
    return requestTokens(tokenRequest(url, [...form, ["client_id", clientId]], undefined));
  return requestTokens(tokenRequest(url, form, { clientId, clientSecret, method }));
}
