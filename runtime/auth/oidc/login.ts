import { createHash, randomBytes } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import { SECOND } from "../../process/units.ts";
import type { BrowserCookies } from "./browser-cookies.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import type { ProviderEndpoints } from "./provider.ts";
import { seconds } from "./session.ts";

/** Seconds that people may take for a login. */
const LOGIN_TIME = 600;
/** Characters of an address that a login comes back to: it is kept in a cookie. */
const MAX_TARGET = 2_000;

/** A login that a browser has begun. */
export interface BegunLogin {
  readonly state: string;
  readonly nonce: string;
  /** The secret whose digest the provider was shown (RFC 7636). */
  readonly verifier: string;
  /** Where the browser wanted to go: a path of this host, with its query. */
  readonly target: string;
  /** Seconds since 1970. */
  readonly end: number;
}

/** Sends the browser to the provider. What comes back counts in this browser alone, which keeps the sealed login. */
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
  const { sessionKey } = exchange.gateway;
  const sealed = sealSession(sessionKey, binding(cookies), JSON.stringify(login));
  exchange.record.reason = "Oidc";
  sendBrowser(exchange, url.href, cookies.keepLogin(login.state, sealed, LOGIN_TIME));
}

/** The login that a state belongs to; undefined: this browser has begun none of it, or too long ago. */
export function begunLogin(
  exchange: Exchange,
  cookies: BrowserCookies,
  state: string,
): BegunLogin | undefined {
  const text = cookies.login(state);
  const kept = text && unsealSession(exchange.gateway.sessionKey, binding(cookies), text);
  if (kept === undefined || kept === "") return undefined;
  // What is unsealed was written by `beginLogin`.
  const login = JSON.parse(kept) as BegunLogin;
  return login.state === state && login.end > seconds() ? login : undefined;
}

/** Milliseconds since 1970 when a login is over. */
export function endOfLogin({ end }: BegunLogin): number {
  return end * SECOND;
}

/** Sends the browser elsewhere. No cache keeps what is meant for one browser. */
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
 * An address as a path of this host. What two slashes begin would lead to another one (RFC 3986 4.2); where logins come back
 * to is no page.
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
