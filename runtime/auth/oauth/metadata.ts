import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { remoteDocument } from "../../http/upstream/remote-document.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import { respondJson, respondToMethod } from "./respond.ts";
import { authorizationServerPath, protectedResourcePath, publicBase } from "./well-known.ts";

export { isOAuthPath } from "./well-known.ts";

/** OAuth metadata of an MCP route. */
export interface OAuthSettings {
  /** Issuer of the authorization server. */
  readonly issuer: string;
  /** URLs where the authorization server's metadata may be, in the order to try. */
  readonly metadataUrls: readonly string[];
  /** Issuer that the metadata names, if it differs from that of the tokens. */
  readonly metadataIssuer?: string;
  /**
   * Members of the protected-resource metadata, in snake_case: `authorization_servers`, and configured members, which may
   * override `resource`.
   */
  readonly resourceMetadata: JsonObject;
}

/** Converts the authorization server's document for a client. `at` is the issuer URL that the client requested. */
export type Rewrite = (document: JsonObject, at: string) => JsonObject;

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

/** Responds with the metadata of a protected resource. */
export function respondResource(exchange: Exchange, path: string, metadata: JsonObject): void {
  respondJson(exchange, 200, { resource: resourceUrl(exchange, path), ...metadata });
}

/** Returns the URL that the client was given for the MCP server, unchanged because clients compare it. */
export function resourceUrl(exchange: Exchange, path: string): string {
  const query = exchange.query === "" ? "" : `?${exchange.query}`;
  return `${publicBase(exchange)}${path}${query}`;
}

/** Serves the authorization server's metadata. */
export async function serveAuthorizationServer(
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
export function metadataOf(
  exchange: Exchange,
  { issuer, metadataUrls, metadataIssuer = issuer }: OAuthSettings,
): MaybePromise<JsonObject | undefined> {
  const remote = remoteDocument(exchange.gateway, {
    name: `metadata of ${issuer}`,
    what: "authorization server metadata",
    urls: metadataUrls,
    accept: (document) => requireServer(document, metadataIssuer),
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
