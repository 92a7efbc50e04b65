import { createHash, randomBytes } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import { SECOND } from "../../process/units.ts";
import type { BrowserCookies } from "./browser-cookies.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import type { ProviderEndpoints } from "./provider.ts";
import { seconds } from "./session.ts";

/** Maximum duration of a login, in seconds. */
const LOGIN_TIME = 600;
/** Maximum length of the target of a login, which is stored in a cookie. */
const MAX_TARGET = 2_000;

/** A login that a browser has started. */
export interface BegunLogin {
  readonly state: string;
  readonly nonce: string;
  /** Secret whose digest was sent to the provider (RFC 7636). */
  readonly verifier: string;
  /** Requested target: a path of this host, with its query. */
  readonly target: string;
  /** Seconds since 1970. */
  readonly end: number;
}

/** Redirects the browser to the provider. The result is only valid in this browser, which stores the sealed login. */
export function beginLogin(
  exchange: Exchange,
  cookies: BrowserCookies,
  { clientId, redirectUri, scopes }: OidcSettings,
  { authorizationEndpoint }: ProviderEndpoints,
): void {
  const login: BegunLogin = {
    state: secret(),
    nonce: secret(),
    verifier: secret(),
    target: localTarget(exchange.original.target, redirectUri),
    end: seconds() + LOGIN_TIME,
  };
  const challenge = createHash("sha256").update(login.verifier).digest("base64url");
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(" "),
    state: login.state,
    nonce: login.nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const { sessionKeys } = exchange.gateway;
  const sealed = sealSession(sessionKeys, binding(cookies), JSON.stringify(login));
  exchange.record.reason = "Oidc";
  sendBrowser(exchange, url.href, cookies.keepLogin(login.state, sealed, LOGIN_TIME));
}

/** Returns the login of a state; `undefined` if this browser has not started it, or it has expired. */
export function begunLogin(
  exchange: Exchange,
  cookies: BrowserCookies,
  state: string,
): BegunLogin | undefined {
  const text = cookies.login(state);
  const unsealed = text && unsealSession(exchange.gateway.sessionKeys, binding(cookies), text);
  if (unsealed === undefined || unsealed === "") return undefined;
  // The sealed content was written by `beginLogin`.
  const login = JSON.parse(unsealed) as BegunLogin;
  return login.state === state && login.end > seconds() ? login : undefined;
}

/** Returns the expiry of a login in milliseconds since 1970. */
export function endOfLogin({ end }: BegunLogin): number {
  return end * SECOND;
}

/** Redirects the browser. The response must not be cached, as it is for one browser. */
export function sendBrowser(
  exchange: Exchange,
  location: string,
  cookies: readonly string[],
): void {
  exchange.record.reason ??= "Redirect";
  const headers = ["location", location, "cache-control", "no-store"];
  exchange.respond(302, [...headers, ...cookies.flatMap((cookie) => ["set-cookie", cookie])]);
}

/**
 * Returns a target as a path of this host: two leading slashes would lead to another host (RFC 3986 4.2). The callback of
 * logins is replaced, because it is not a page.
 */
export function localTarget(target: string, redirectUri: string): string {
  const path = `/${target.replace(/^[/\\]+/, "")}`;
  const isPage = path.split("?", 1)[0] !== new URL(redirectUri).pathname;
  return isPage && path.length <= MAX_TARGET ? path : "/";
}

function binding({ name }: BrowserCookies): string {
  return `oidc login ${name}`;
}

/** 256 random bits. */
function secret(): string {
  return randomBytes(32).toString("base64url");
}
