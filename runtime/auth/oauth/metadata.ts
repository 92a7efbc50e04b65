import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { remoteDocument } from "../../http/upstream/remote-document.ts";
import { type MaybePromise, thenMaybe } from "../../process/maybe-promise.ts";
import { respondJson, respondToMethod } from "./respond.ts";
import { authorizationServerPath, protectedResourcePath, publicBase } from "./well-known.ts";

export { isOAuthPath } from "./well-known.ts";

/** What an MCP route says about its authorization server. */
export interface OAuthSettings {
  /** The authorization server, as it calls itself. */
  readonly issuer: string;
  /** Where the authorization server's own metadata may be, tried in order. */
  readonly metadataUrls: readonly string[];
  /**
   * Members of the protected-resource metadata besides `resource`, in snake_case: `authorization_servers`, and what the
   * configuration adds or overrides, `resource` included.
   */
  readonly resourceMetadata: JsonObject;
}

/** Makes the document a client gets of the authorization server's own; `at` is the issuer URL the client asked for. */
export type Rewrite = (document: JsonObject, at: string) => JsonObject;

/** What clients get in the place of an authorization server's own metadata. */
export interface Adaptation {
  readonly rewrite: Rewrite;
  /** Whether the clients of a resource, as its metadata calls it, get no token of use without it. */
  readonly isNeeded: (resource: unknown) => boolean;
}

/**
 * Serves the protected-resource metadata (RFC 9728) and, for clients that look for the authorization server where the
 * MCP endpoint is, the authorization server's metadata (RFC 8414) as it stands. Called for what `isOAuthPath` accepts,
 * before CORS and token checks.
 */
export function serveOAuth(exchange: Exchange, settings: OAuthSettings): Handled {
  const path = protectedResourcePath(exchange.path);
  if (path === undefined)
    return serveAuthorizationServer(exchange, settings, (document) => document);
  if (respondToMethod(exchange, "GET")) return;
  respondResource(exchange, path, settings.resourceMetadata);
}

/**
 * Serves the metadata of a route for whose clients the gateway adapts the authorization server's: it stands in its place. A
 * client that compares issuers (RFC 9207 2.4, MCP 2026-07-28) takes no response by another name, so it is sent to a server
 * that names itself in its responses by that name, where it can do without the adaptation.
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
 * The members by which an authorization server is known. Clients require `issuer` to be the URL they asked for
 * (RFC 8414 3.3); the server itself signs its responses with its own name, so none is promised (RFC 9207 3).
 */
export function identifiedBy(at: string): JsonObject {
  return { issuer: at, authorization_response_iss_parameter_supported: false };
}

function respondResource(exchange: Exchange, path: string, metadata: JsonObject): void {
  respondJson(exchange, 200, { resource: resourceOf(exchange, path), ...metadata });
}

/** The URL that the client was given for the MCP server, to the letter: clients compare. */
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

/** What the authorization server says of itself; undefined: it can't be reached. */
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

/** RFC 8414 3.3: metadata that names another issuer must not be used. */
function requireServer(document: JsonObject, issuer: string): void {
  if (typeof document.issuer !== "string" || typeof document.authorization_endpoint !== "string") {
    throw new Error("not an authorization server's metadata");
  }
  if (document.issuer !== issuer) throw new Error("the metadata of another issuer");
}
