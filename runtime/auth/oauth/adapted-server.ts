import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import {
  metadataOf,
  type OAuthSettings,
  resourceUrl,
  respondResource,
  serveAuthorizationServer,
} from "./metadata.ts";
import { respondToMethod } from "./respond.ts";
import { authorizationServerPath, protectedResourcePath, publicBase } from "./well-known.ts";

/** An authorization server whose metadata is adapted for MCP clients. */
export interface AdaptedServerSettings extends OAuthSettings {
  /** API that clients must name at the authorization endpoint, because the server ignores RFC 8707; absent if they need not. */
  readonly audience?: string;
  /** Answers the registration of a client; absent if the server's own endpoint does. */
  readonly registration?: Registration;
  /** Endpoints of the gateway instead of the server's; absent for its own. */
  readonly endpoints?: GatewayEndpoints;
}

/** Answers the registration of a client (RFC 7591). */
export interface Registration {
  /** Whether the server itself registers no clients. */
  readonly isOnlyOne: boolean;
  serve(exchange: Exchange): Handled;
}

/** Endpoints of the gateway that pass requests on to those of an authorization server. */
export interface GatewayEndpoints {
  /** Returns the members of the metadata that name them, below a URL. */
  members(document: JsonObject, below: string): JsonObject;
  /** Serves a request if it is for one of them; `undefined` if it is not. `metadata`: the server's own. */
  serve(
    exchange: Exchange,
    path: string,
    metadata: () => MaybePromise<JsonObject | undefined>,
  ): Handled | undefined;
}

const REGISTRATION = "/client-registration";

/**
 * Serves metadata of a route whose clients need the authorization server's adapted. The gateway then acts as the issuer.
 * Clients that compare issuers (RFC 9207 2.4, MCP 2026-07-28) reject responses with another name. So if the server names
 * itself in its responses, and the adaptation is not needed, they are sent to the server itself.
 */
export function serveAdaptedOAuth(exchange: Exchange, settings: AdaptedServerSettings): Handled {
  const resource = protectedResourcePath(exchange.path);
  if (resource === undefined) return serveServer(exchange, settings);
  if (respondToMethod(exchange, "GET")) return;
  const { issuer, resourceMetadata } = settings;
  const respond = (servers: readonly string[]) =>
    respondResource(exchange, resource, {
      authorization_servers: [...servers],
      ...resourceMetadata,
    });
  const own = `${publicBase(exchange)}${resource}`;
  if ("authorization_servers" in resourceMetadata || isNeeded(exchange, resource, settings)) {
    respond([own]);
    return;
  }
  return thenMaybe(metadataOf(exchange, settings), (document) =>
    respond([document?.authorization_response_iss_parameter_supported === true ? issuer : own]),
  );
}

/** Whether clients get no usable token without the adaptation. */
function isNeeded(
  exchange: Exchange,
  path: string,
  { audience, registration, endpoints, resourceMetadata }: AdaptedServerSettings,
): boolean {
  if (endpoints !== undefined || registration?.isOnlyOne === true) return true;
  // If the API is named by its URL, clients request it anyway (RFC 8707).
  const { resource = resourceUrl(exchange, path) } = resourceMetadata;
  return audience !== undefined && resource !== audience;
}

function serveServer(exchange: Exchange, settings: AdaptedServerSettings): Handled {
  const { audience, registration, endpoints } = settings;
  const path = authorizationServerPath(exchange.path) ?? "";
  if (registration !== undefined && path.endsWith(REGISTRATION))
    return registration.serve(exchange);
  const served = endpoints?.serve(exchange, path, () => metadataOf(exchange, settings));
  if (served !== undefined) return served;
  return serveAuthorizationServer(exchange, settings, (document, at) => {
    const below = `${new URL(at).origin}${exchange.path}`;
    return {
      ...document,
      ...identifiedBy(at),
      ...(audience !== undefined && {
        authorization_endpoint: withAudience(String(document.authorization_endpoint), audience),
      }),
      ...(registration && { registration_endpoint: `${below}${REGISTRATION}` }),
      ...endpoints?.members(document, below),
    };
  });
}

/**
 * Members that identify an authorization server. Clients require `issuer` to be the URL that they requested (RFC 8414 3.3).
 * Responses carry the server's own name, so the `iss` parameter is not announced (RFC 9207 3).
 */
function identifiedBy(at: string): JsonObject {
  return { issuer: at, authorization_response_iss_parameter_supported: false };
}

function withAudience(endpoint: string, audience: string): string {
  const url = new URL(endpoint);
  url.searchParams.set("audience", audience);
  return url.href;
}
