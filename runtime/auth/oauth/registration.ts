import { readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { Registration } from "./adapted-server.ts";
import { MAX_OAUTH_REQUEST, respondAsServer, respondJson, respondToMethod } from "./respond.ts";

/**
 * Passes registrations on to the authorization server, whose own endpoint sends no CORS headers and so refuses clients in
 * browsers.
 */
export function forwardedRegistration(url: string): Registration {
  return {
    isOnlyOne: false,
    serve: (exchange) => forward(exchange, url),
  };
}

/** Answers every registration with the id of a client that the authorization server knows. */
export function knownClient(clientId: string): Registration {
  return { isOnlyOne: true, serve: (exchange) => nameClient(exchange, clientId) };
}

async function forward(exchange: Exchange, url: string): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  await respondAsServer(exchange, url, registrationHeaders(exchange), body);
}

/** A registration may have an initial access token (RFC 7591 3), which is meant for the server and not for the MCP server. */
function registrationHeaders(exchange: Exchange): readonly string[] {
  const token = exchange.header("authorization");
  const headers = ["content-type", "application/json", "accept", "application/json"];
  return token === undefined ? headers : [...headers, "authorization", token];
}

async function nameClient(exchange: Exchange, clientId: string): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  const redirects = redirectsOf(body.toString("utf8"));
  if (redirects === undefined) {
    // RFC 7591 3.2.2
    respondJson(exchange, 400, { error: "invalid_redirect_uri" });
    return;
  }
  respondJson(exchange, 201, {
    client_id: clientId,
    redirect_uris: [...redirects],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
}

/** Returns the redirect URIs of a registration, which clients compare; the authorization server decides about them. */
function redirectsOf(text: string): readonly string[] | undefined {
  try {
    const document: unknown = JSON.parse(text);
    const { redirect_uris: found } = Object(document);
    const isList = Array.isArray(found) && found.length > 0;
    return isList && found.every((each) => typeof each === "string") ? found : undefined;
  } catch {
    return undefined;
  }
}
