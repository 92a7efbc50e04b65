import type { Exchange, Handled } from "../../http/exchange.ts";
import { identifiedBy, type OAuthSettings, serveAdaptedOAuth } from "./metadata.ts";

/** An Auth0 tenant as authorization server. */
export interface Auth0Settings extends OAuthSettings {
  /** API that tokens are requested for. Without it, Auth0 issues opaque tokens. */
  readonly audience: string;
}

/** Serves OAuth metadata for Auth0: adds the `audience` that MCP clients do not send to the authorization endpoint. */
export function serveAuth0OAuth(exchange: Exchange, settings: Auth0Settings): Handled {
  const { audience } = settings;
  return serveAdaptedOAuth(exchange, settings, {
    rewrite: (document, at) => ({
      ...document,
      ...identifiedBy(at),
      authorization_endpoint: withAudience(String(document.authorization_endpoint), audience),
    }),
    // If the API is named by its URL, clients request it anyway (RFC 8707).
    isNeeded: (resource) => resource !== audience,
  });
}

function withAudience(endpoint: string, audience: string): string {
  const url = new URL(endpoint);
  url.searchParams.set("audience", audience);
  return url.href;
}
