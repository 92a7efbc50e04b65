import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { remoteDocument } from "../../http/upstream/remote-document.ts";
import { respondJson, respondToMethod } from "./respond.ts";
import { authorizationServerPath, protectedResourcePath, publicBase } from "./well-known.ts";

export { isOAuthPath } from "./well-known.ts";

/** What an MCP route says about its authorization server. */
export interface OAuthSettings {
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

/**
 * Serves the protected-resource metadata (RFC 9728) and, for clients that look for the authorization server where the
 * MCP endpoint is, the authorization server's metadata (RFC 8414) as it stands. Called for what `isOAuthPath` accepts,
 * before CORS and token checks.
 */
export function serveOAuth(exchange: Exchange, settings: OAuthSettings): Handled {
  if (serveResource(exchange, settings.resourceMetadata)) return;
  return serveAuthorizationServer(exchange, settings, (document) => document);
}

/** Serves the metadata of a route whose authorization server is reached through the gateway: it is its own. */
export function serveOwnOAuth(
  exchange: Exchange,
  settings: OAuthSettings,
  rewrite: Rewrite,
): Handled {
  const path = protectedResourcePath(exchange.path) ?? "";
  const own = { authorization_servers: [`${publicBase(exchange)}${path}`] };
  if (serveResource(exchange, { ...own, ...settings.resourceMetadata })) return;
  return serveAuthorizationServer(exchange, settings, rewrite);
}

/**
 * The members by which an authorization server is known. Clients require `issuer` to be the URL they asked for
 * (RFC 8414 3.3); the server itself signs its responses with its own name, so none is promised (RFC 9207 3).
 */
export function identifiedBy(at: string): JsonObject {
  return { issuer: at, authorization_response_iss_parameter_supported: false };
}

/** `resource` is the URL that the client was given for the MCP server, to the letter: clients compare. */
function serveResource(exchange: Exchange, metadata: JsonObject): boolean {
  const path = protectedResourcePath(exchange.path);
  if (path === undefined) return false;
  if (respondToMethod(exchange, "GET")) return true;
  const query = exchange.query === "" ? "" : `?${exchange.query}`;
  const resource = `${publicBase(exchange)}${path}${query}`;
  respondJson(exchange, 200, { resource, ...metadata });
  return true;
}

async function serveAuthorizationServer(
  exchange: Exchange,
  { metadataUrls }: OAuthSettings,
  rewrite: Rewrite,
): Promise<void> {
  if (respondToMethod(exchange, "GET")) return;
  const remote = remoteDocument(exchange.gateway, {
    name: `metadata ${metadataUrls.join(" ")}`,
    what: "authorization server metadata",
    urls: metadataUrls,
    accept: requireEndpoints,
  });
  const document = remote.current(maxAge) ?? (await remote.renewed());
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

/** Milliseconds. */
const maxAge = 300_000;

function requireEndpoints(document: JsonObject): void {
  if (typeof document.issuer !== "string" || typeof document.authorization_endpoint !== "string") {
    throw new Error("not an authorization server's metadata");
  }
}
