import type { JsonObject } from "../../cel/variables.ts";
import { readWhole } from "../../http/buffer-body.ts";
import { type Exchange, type Handled, logFields } from "../../http/exchange.ts";
import { HOUR, SECOND } from "../../process/units.ts";
import { respondResource } from "../oauth/metadata.ts";
import { MAX_OAUTH_REQUEST, respondJson, respondToMethod } from "../oauth/respond.ts";
import {
  authorizationServerPath,
  isOAuthPath,
  OPENID_CONFIGURATION,
  protectedResourcePath,
} from "../oauth/well-known.ts";
import { askPerson, refusePage, takeDecision } from "./authorize.ts";
import { readClient } from "./client-bounds.ts";
import type { Front } from "./front-settings.ts";
import { noteClient } from "./note-client.ts";
import { returnFromProvider } from "./return-from-provider.ts";
import { seal } from "./seals.ts";
import { serveTokens } from "./tokens.ts";

/** Whether a request is for the authorization server or for OAuth metadata, rather than for the MCP endpoint. */
export function isFrontPath(exchange: Exchange, front: Front): boolean {
  return isOAuthPath(exchange) || partOf(exchange, front) !== undefined;
}

/** Serves the authorization server of MCP clients. Called for paths that `isFrontPath` accepts, before token checks. */
export function serveFront(exchange: Exchange, front: Front): Handled {
  const resource = protectedResourcePath(exchange.path);
  if (resource !== undefined) {
    if (!respondToMethod(exchange, "GET"))
      respondResource(exchange, resource, front.resourceMetadata);
    return;
  }
  const part = partOf(exchange, front);
  if (part === OPENID_CONFIGURATION || authorizationServerPath(exchange.path) !== undefined) {
    if (!respondToMethod(exchange, "GET")) respondJson(exchange, 200, metadataOfFront(front));
    return;
  }
  switch (part) {
    case "/authorize":
      return isMethod(exchange, "GET") ? askPerson(exchange, front) : undefined;
    case "/consent":
      return isMethod(exchange, "POST") ? takeDecision(exchange, front) : undefined;
    case "/callback":
      return isMethod(exchange, "GET") ? returnFromProvider(exchange, front) : undefined;
    case "/token":
      return serveTokens(exchange, front);
    case "/register":
      if (front.registrationsPerHour > 0) return registerClient(exchange, front);
  }
  refusePage(exchange, 404, "there is no such page");
}

/** Returns the path below that of the server; `undefined` for other paths. */
function partOf({ path }: Exchange, { url }: Front): string | undefined {
  const base = new URL(url).pathname;
  return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}

/** Whether a page is requested by its method. Responds to others. */
function isMethod(exchange: Exchange, method: "GET" | "POST"): boolean {
  if (exchange.method === method) return true;
  exchange.respond(405, ["allow", method]);
  return false;
}

/** Returns the metadata of the authorization server (RFC 8414 2). */
function metadataOfFront({
  url,
  scopes,
  clientDocuments,
  registrationsPerHour,
}: Front): JsonObject {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    ...(registrationsPerHour > 0 && { registration_endpoint: `${url}/register` }),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
    code_challenge_methods_supported: ["S256"],
    ...(scopes.length > 0 && { scopes_supported: [...scopes] }),
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: clientDocuments.length > 0,
  };
}

/**
 * Registers a client (RFC 7591). Its id is its description, sealed, so that nothing is stored: registrations need no memory, and
 * all threads and replicas know them.
 */
async function registerClient(exchange: Exchange, front: Front): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  const client = readClient(jsonOf(body), front);
  if ("error" in client) {
    exchange.record.reason = "Oidc";
    logFields(exchange.record).set("error", client.text);
    respondJson(exchange, 400, { error: client.error, error_description: client.text });
    return;
  }
  if (!front.registrations.add(exchange.gateway)) {
    exchange.record.reason = "RateLimit";
    exchange.addResponseHeader("retry-after", String(Math.ceil(untilNextHour() / SECOND)));
    respondJson(exchange, 429, {
      error: "temporarily_unavailable",
      error_description: "too many registrations in this hour",
    });
    return;
  }
  const now = Date.now();
  noteClient(exchange, "registered", client.name, client.redirectUris[0]);
  respondJson(exchange, 201, {
    client_id: seal(exchange.gateway, front, "client", {
      ...client,
      end: now + front.registrationLifetime,
    }),
    client_id_issued_at: Math.floor(now / SECOND),
    ...(client.name !== undefined && { client_name: client.name }),
    redirect_uris: [...client.redirectUris],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
}

function untilNextHour(): number {
  return HOUR - (Date.now() % HOUR);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
