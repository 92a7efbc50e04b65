import type { OAuthClient } from "../oauth/client-authentication.ts";
import type { CookieOwner } from "./browser-cookies.ts";
import type { LoginProvider } from "./provider.ts";

/** A client of an OpenID provider, for logins of browsers. */
export interface OidcSettings extends CookieOwner, OAuthClient {
  readonly provider: LoginProvider;
  /** Requested scopes, including `openid`. */
  readonly scopes: readonly string[];
  /** Absent if sessions only end by expiry. */
  readonly logout?: LogoutSettings;
}

/** Settings of logout. */
export interface LogoutSettings {
  /** Path that ends a session. */
  readonly path: string;
  /** Path at which the provider announces logouts; absent if it does not. */
  readonly backChannelPath?: string;
  /** Redirect target after logout; absent: the browser gets a text. */
  readonly redirectUri?: string;
  /** Whether the login at the provider continues. */
  readonly isLocal: boolean;
}
