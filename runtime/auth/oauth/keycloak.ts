import { readWhole } from "../../http/buffer-body.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import type { FetchLimits } from "../../http/upstream/fetch-request.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { identifiedBy, type OAuthSettings, serveAdaptedOAuth } from "./metadata.ts";
import { respondBytes, respondToMethod } from "./respond.ts";
import { authorizationServerPath } from "./well-known.ts";

/** A Keycloak realm as authorization server. */
export interface KeycloakSettings extends OAuthSettings {
  /** Keycloak's endpoint for client registration. */
  readonly registrationUrl: string;
}

/** Maximum bytes of a client's registration. */
const MAX_REGISTRATION = 65_536;

/** Limits of Keycloak's response to a registration. */
const LIMITS: FetchLimits = { maxBytes: 512 * 1024, deadline: 10_000 };

const REGISTRATION = "/client-registration";

/**
 * Serves OAuth metadata for Keycloak. Clients register at the gateway, because Keycloak's own endpoint sends no CORS headers
 * and refuses clients in browsers.
 */
export function serveKeycloakOAuth(exchange: Exchange, settings: KeycloakSettings): Handled {
  const path = authorizationServerPath(exchange.path);
  if (path?.endsWith(REGISTRATION)) return register(exchange, settings.registrationUrl);
  return serveAdaptedOAuth(exchange, settings, {
    rewrite: (document, at) => ({
      ...document,
      ...identifiedBy(at),
      registration_endpoint: `${new URL(at).origin}${exchange.path}${REGISTRATION}`,
    }),
    // Keycloak may already know the client, or the client names itself by a document.
    isNeeded: () => false,
  });
}

async function register(exchange: Exchange, url: string): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_REGISTRATION);
  if (body === undefined) return;
  const headers = registrationHeaders(exchange);
  try {
    const request = { method: "POST", url, headers, body } as const;
    const response = await fetchResponse(request, {
      ...LIMITS,
      onAbort: exchange.onAbort.bind(exchange),
    });
    respondBytes(exchange, response.status, response.body);
  } catch {
    refuse(exchange, 503, "UpstreamFailure", "the authorization server can't be reached");
  }
}

/** A registration may have an initial access token (RFC 7591 3), which is meant for Keycloak and not for the MCP server. */
function registrationHeaders(exchange: Exchange): readonly string[] {
  const token = exchange.header("authorization");
  const headers = ["content-type", "application/json", "accept", "application/json"];
  return token === undefined ? headers : [...headers, "authorization", token];
}
