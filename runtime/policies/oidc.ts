import type { Authenticated } from "../auth/jwt/authenticate.ts";
import { errorWord, TokensRefused } from "../auth/oauth/request-tokens.ts";
import { asksForPage, isCrossSite } from "../auth/oidc/browser.ts";
import { BrowserCookies } from "../auth/oidc/browser-cookies.ts";
import { type OidcClient, openOidc } from "../auth/oidc/client.ts";
import { beginLogin, begunLogin, localTarget, sendBrowser } from "../auth/oidc/login.ts";
import { type KnownSession, seconds } from "../auth/oidc/session.ts";
import type { JsonObject } from "../cel/variables.ts";
import { noteSubject } from "../http/caller-identity.ts";
import { type Exchange, logFields } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { canonicalPath } from "../http/routing/path.ts";
import { queryValue } from "../http/routing/query.ts";
import { StoreError } from "../store/store.ts";

export { openOidc };

/**
 * Returns the claims of the logged-in user, or `undefined` if the request was answered: a browser that requests a page is
 * redirected to the provider, other requests get a 401. Responses of the provider and logouts are handled here, too.
 */
export async function requireLogin(exchange: Exchange, client: OidcClient): Promise<Authenticated> {
  const cookies = new BrowserCookies(exchange, client.cookieNames);
  const shown = client.session(cookies, exchange.gateway);
  try {
    return await handleLogin(exchange, client, cookies, shown);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    logFields(exchange.record).set("error", error.message);
    refuse(exchange, 503, "Oidc", "authentication failure: logins cannot be checked now");
    return undefined;
  }
}

async function handleLogin(
  exchange: Exchange,
  client: OidcClient,
  cookies: BrowserCookies,
  shown: KnownSession | undefined,
): Promise<Authenticated> {
  const { redirectUri, logout } = client.settings;
  if (exchange.path === logout?.backChannelPath) {
    await client.respondToLogout(exchange);
    return undefined;
  }
  if (exchange.path === logout?.path) return endSession(exchange, client, cookies, shown);
  if (exchange.path === canonicalPath(new URL(redirectUri).pathname)) {
    const state = queryValue(exchange.query, "state");
    const isResponse = /(?:^|&)(?:code|error)=/.test(exchange.query);
    if (state !== undefined && isResponse && exchange.method === "GET") {
      return finishLogin(exchange, client, cookies, state);
    }
  }
  const isEnded = shown !== undefined && (await client.isEndedElsewhere(shown, exchange.gateway));
  const session =
    shown === undefined || isEnded ? undefined : await current(exchange, client, cookies, shown);
  if (session !== undefined) return admitSession(exchange, session);
  return askToLogIn(exchange, client, cookies);
}

/**
 * Returns the current session; `undefined` if it has ended. A session that is due is renewed; if that fails, it stays valid
 * until its end.
 */
async function current(
  exchange: Exchange,
  client: OidcClient,
  cookies: BrowserCookies,
  shown: KnownSession,
): Promise<KnownSession | undefined> {
  const { gateway } = exchange;
  const now = seconds();
  const { end, renewal } = shown.session;
  if (now < renewal) return shown;
  const renewed = await client.renewed(shown, gateway);
  if (renewed === undefined) return now < end ? shown : undefined;
  const kept = cookies.keepSession(client.sealed(renewed.session, gateway));
  if (kept === undefined) return now < end ? shown : undefined;
  for (const cookie of kept) exchange.addResponseHeader("set-cookie", cookie);
  exchange.setResponseHeader("cache-control", "private, no-store");
  return renewed;
}

/** Admits the request. The id token becomes its credential, for backends that forward one. */
function admitSession(exchange: Exchange, { session, claims }: KnownSession): Authenticated {
  noteUser(exchange, claims);
  exchange.strippedCredentials = {
    kind: "jwt",
    location: { header: "authorization", prefix: "Bearer " },
    value: `Bearer ${session.idToken}`,
    before: exchange.strippedCredentials,
  };
  return claims;
}

async function askToLogIn(
  exchange: Exchange,
  client: OidcClient,
  cookies: BrowserCookies,
): Promise<undefined> {
  if (!asksForPage(exchange)) {
    refuse(exchange, 401, "Oidc", "authentication failure: log in with a browser", [
      ...["www-authenticate", `Cookie cookie-name="${cookies.name}"`],
    ]);
    return;
  }
  const endpoints = await client.settings.provider.endpoints(exchange.gateway);
  if (endpoints === undefined) refuseUnreachable(exchange);
  else beginLogin(exchange, cookies, client.settings, endpoints);
}

/** Handles the provider's response. It is accepted once, in the browser that has begun the login. */
async function finishLogin(
  exchange: Exchange,
  client: OidcClient,
  cookies: BrowserCookies,
  state: string,
): Promise<undefined> {
  const { gateway, query } = exchange;
  const { settings } = client;
  const login = begunLogin(exchange, cookies, state);
  if (login === undefined || !(await client.finish(login, gateway))) {
    const reason =
      login === undefined
        ? "was not started in this browser or has expired"
        : "was already completed";
    refuseLogin(exchange, 400, `this login ${reason}`);
    return;
  }
  exchange.addResponseHeader("set-cookie", cookies.dropLogin(state));
  const endpoints = await settings.provider.endpoints(gateway);
  if (endpoints === undefined) {
    refuseUnreachable(exchange);
    return;
  }
  const issuer = queryValue(query, "iss");
  if (issuer === undefined ? endpoints.namesIssuer === true : issuer !== settings.issuer) {
    refuseLogin(exchange, 400, "the response is from another login server");
    return;
  }
  const code = queryValue(query, "code");
  if (code === undefined) {
    const word = errorWord(queryValue(query, "error"));
    const status = word === "access_denied" ? 403 : 400;
    refuseLogin(
      exchange,
      status,
      `the login server refused${word === undefined ? "" : `: ${word}`}`,
    );
    return;
  }
  try {
    const started = await client.started(login, code, endpoints, gateway);
    const kept = cookies.keepSession(client.sealed(started.session, gateway));
    if (kept === undefined) throw new Error("the tokens are too long for cookies");
    noteUser(exchange, started.claims);
    sendBrowser(exchange, localTarget(login.target, settings.redirectUri), kept);
  } catch (error) {
    logFields(exchange.record).set("error", error instanceof Error ? error.message : String(error));
    if (error instanceof TokensRefused) {
      refuseLogin(exchange, 400, "the login server does not confirm this login");
    } else {
      refuse(exchange, 502, "Oidc", "authentication failure: the login could not be completed");
    }
  }
}

/**
 * Ends the session at the gateway and, unless configured otherwise, at the provider. Pages of other sites cannot request
 * it.
 */
async function endSession(
  exchange: Exchange,
  client: OidcClient,
  cookies: BrowserCookies,
  known: KnownSession | undefined,
): Promise<undefined> {
  if (isCrossSite(exchange)) {
    refuse(exchange, 403, "Oidc", "log out from a page of this site");
    return;
  }
  const { clientId, logout, provider } = client.settings;
  const endpoints = await provider.endpoints(exchange.gateway);
  if (known !== undefined) {
    await exchange.onLogout?.(known.claims);
    await client.end(known, endpoints, exchange.gateway);
  }
  const dropped = cookies.dropSession();
  const next = logout?.redirectUri;
  const provided = endpoints?.endSessionEndpoint;
  if (logout?.isLocal === true || provided === undefined || known === undefined) {
    if (next !== undefined) sendBrowser(exchange, next, dropped);
    else respondLoggedOut(exchange, dropped);
    return;
  }
  const url = new URL(provided);
  url.searchParams.set("client_id", clientId);
  url.searchParams.set("id_token_hint", known.session.idToken);
  if (next !== undefined) url.searchParams.set("post_logout_redirect_uri", next);
  sendBrowser(exchange, url.href, dropped);
}

function respondLoggedOut(exchange: Exchange, cookies: readonly string[]): void {
  exchange.record.reason = "DirectResponse";
  const headers = ["content-type", "text/plain; charset=utf-8", "cache-control", "no-store"];
  const dropped = cookies.flatMap((cookie) => ["set-cookie", cookie]);
  exchange.respond(200, [...headers, ...dropped], "logged out");
}

function refuseLogin(exchange: Exchange, status: number, problem: string): void {
  const message = `authentication failure: ${problem}; open the page again to log in`;
  refuse(exchange, status, "Oidc", message, ["cache-control", "no-store"]);
}

function refuseUnreachable(exchange: Exchange): void {
  refuse(exchange, 503, "Oidc", "authentication failure: the login server is not reachable");
}

function noteUser({ record }: Exchange, claims: JsonObject): void {
  if (typeof claims.sub === "string") logFields(record).set("jwt.sub", claims.sub);
  noteSubject(record, claims);
}
