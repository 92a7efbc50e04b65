import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { remoteDocument } from "../../http/upstream/remote-document.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import { respondJson, respondToMethod } from "./respond.ts";
import { authorizationServerPath, protectedResourcePath, publicBase } from "./well-known.ts";

export { isOAuthPath } from "./well-known.ts";

/** OAuth metadata of an MCP route. */
export interface OAuthSettings {
  /** Issuer of the authorization server. */
  readonly issuer: string;
  /** URLs where the authorization server's metadata may be, in the order to try. */
  readonly metadataUrls: readonly string[];
  /**
   * Members of the protected-resource metadata, in snake_case: `authorization_servers`, and configured members, which may
   * override `resource`.
   */
  readonly resourceMetadata: JsonObject;
}

/** Converts the authorization server's document for a client. `at` is the issuer URL that the client requested. */
export type Rewrite = (document: JsonObject, at: string) => JsonObject;

/** Changes of an authorization server's metadata for clients. */
export interface Adaptation {
  readonly rewrite: Rewrite;
  /** Whether the clients of a resource, named as in its metadata, get no usable token without it. */
  readonly isNeeded: (resource: unknown) => boolean;
}

/**
 * Serves the protected-resource metadata (RFC 9728) and, for clients that look for the authorization server at the MCP
 * endpoint's host, its unchanged metadata (RFC 8414). Called for paths that `isOAuthPath` accepts, before CORS and token
 * checks.
 */
export function serveOAuth(exchange: Exchange, settings: OAuthSettings): Handled {
  const path = protectedResourcePath(exchange.path);
  if (path === undefined)
    return serveAuthorizationServer(exchange, settings, (document) => document);
  if (respondToMethod(exchange, "GET")) return;
  respondResource(exchange, path, settings.resourceMetadata);
}

/**
 * Serves metadata of a route whose clients need the authorization server's adapted. The gateway then acts as the issuer.
 * Clients that compare issuers (RFC 9207 2.4, MCP 2026-07-28) reject responses with another name. So if the server names
 * itself in its responses, and the adaptation is not needed, they are sent to the server itself.
 */
export function serveAdaptedOAuth(
  exchange: Exchange,
  settings: OAuthSettings,
  { rewrite, isNeeded }: Adaptation,
): Handled {
  const path = protectedResourcePath(exchange.path);
  if (path === undefined) return serveAuthorizationServer(exchange, settings, rewrite);
  if (respondToMethod(exchange, "GET")) return;
  const { issuer, resourceMetadata } = settings;
  const respond = (servers: readonly string[]) =>
    respondResource(exchange, path, { authorization_servers: [...servers], ...resourceMetadata });
  const own = `${publicBase(exchange)}${path}`;
  const { resource = resourceOf(exchange, path) } = resourceMetadata;
  if ("authorization_servers" in resourceMetadata || isNeeded(resource)) {
    respond([own]);
    return;
  }
  return thenMaybe(metadataOf(exchange, settings), (document) =>
    respond([document?.authorization_response_iss_parameter_supported === true ? issuer : own]),
  );
}

/**
 * Members that identify an authorization server. Clients require `issuer` to be the URL that they requested (RFC 8414 3.3).
 * Responses carry the server's own name, so the `iss` parameter is not announced (RFC 9207 3).
 */
export function identifiedBy(at: string): JsonObject {
  return { issuer: at, authorization_response_iss_parameter_supported: false };
}

function respondResource(exchange: Exchange, path: string, metadata: JsonObject): void {
  respondJson(exchange, 200, { resource: resourceOf(exchange, path), ...metadata });
}

/** Returns the URL that the client was given for the MCP server, unchanged because clients compare it. */
function resourceOf(exchange: Exchange, path: string): string {
  const query = exchange.query === "" ? "" : `?${exchange.query}`;
  return `${publicBase(exchange)}${path}${query}`;
}

async function serveAuthorizationServer(
  exchange: Exchange,
  settings: OAuthSettings,
  rewrite: Rewrite,
): Promise<void> {
  if (respondToMethod(exchange, "GET")) return;
  const document = await metadataOf(exchange, settings);
  if (document === undefined) {
    refuse(exchange, 503, "UpstreamFailure", "the authorization server can't be reached", [
      "access-control-allow-origin",
      "*",
    ]);
    return;
  }
  const at = `${publicBase(exchange)}${authorizationServerPath(exchange.path) ?? ""}`;
  respondJson(exchange, 200, rewrite(document, at));
}

/** Fetches the authorization server's metadata; `undefined` if it is unreachable. */
function metadataOf(
  exchange: Exchange,
  { issuer, metadataUrls }: OAuthSettings,
): MaybePromise<JsonObject | undefined> {
  const remote = remoteDocument(exchange.gateway, {
    name: `metadata of ${issuer}`,
    what: "authorization server metadata",
    urls: metadataUrls,
    accept: (document) => requireServer(document, issuer),
  });
  return remote.current(MAX_AGE) ?? remote.renewed();
}

/** Milliseconds. */
const MAX_AGE = 300_000;

/** Metadata of another issuer must not be used (RFC 8414 3.3). */
function requireServer(document: JsonObject, issuer: string): void {
  if (typeof document.issuer !== "string" || typeof document.authorization_endpoint !== "string") {
    throw new Error("not an authorization server's metadata");
  }
  if (document.issuer !== issuer) throw new Error("the metadata names another issuer");
}
