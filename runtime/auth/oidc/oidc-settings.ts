import type { OAuthClient } from "../oauth/client-authentication.ts";
import type { CookieOwner } from "./browser-cookies.ts";
import type { LoginProvider } from "./provider.ts";

/** A client of an OpenID provider, for which browsers log in. */
export interface OidcSettings extends CookieOwner, OAuthClient {
  readonly provider: LoginProvider;
  /** What is asked for, `openid` among it. */
  readonly scopes: readonly string[];
  /** Absent: sessions end by themselves. */
  readonly logout?: LogoutSettings;
}

/** How sessions are ended. */
export interface LogoutSettings {
  /** The path that ends one. */
  readonly path: string;
  /** Where the browser goes then; absent: it gets a text. */
  readonly redirectUri?: string;
  /** The login at the provider goes on. */
  readonly isLocal: boolean;
}
