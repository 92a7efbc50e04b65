import type { Exchange, Handled } from "../../http/exchange.ts";
import { identifiedBy, type OAuthSettings, serveAdaptedOAuth } from "./metadata.ts";

/** An Auth0 tenant as authorization server. */
export interface Auth0Settings extends OAuthSettings {
  /** The API that tokens are asked for: without it Auth0 issues opaque ones. */
  readonly audience: string;
}

/** `serveOAuth` for Auth0: the authorization endpoint gets the `audience` that MCP clients do not send. */
export function serveAuth0OAuth(exchange: Exchange, settings: Auth0Settings): Handled {
  const { audience } = settings;
  return serveAdaptedOAuth(exchange, settings, {
    rewrite: (document, at) => ({
      ...document,
      ...identifiedBy(at),
      authorization_endpoint: withAudience(String(document.authorization_endpoint), audience),
    }),
    // An API that is called as its URL is what clients ask for anyhow (RFC 8707).
    isNeeded: (resource) => resource !== audience,
  });
}

function withAudience(endpoint: string, audience: string): string {
  const url = new URL(endpoint);
  url.searchParams.set("audience", audience);
  return url.href;
}
