import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { Remembered } from "../../process/remembered.ts";
import { MINUTE, SECOND } from "../../process/units.ts";
import { InvalidToken } from "../jwt/invalid-token.ts";
import { VerifiedTokens } from "../jwt/verified-tokens.ts";
import { JwtVerifier } from "../jwt/verifier.ts";
import { tokenRequest } from "../oauth/client-authentication.ts";
import { requestTokens } from "../oauth/request-tokens.ts";
import { respondToLogout } from "./back-channel.ts";
import { type BrowserCookies, type CookieNames, cookieNames } from "./browser-cookies.ts";
import { type BegunLogin, endOfLogin } from "./login.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import type { ProviderEndpoints } from "./provider.ts";
import { Renewals } from "./renewals.ts";
import { grantedSession, type KnownSession, type Session, sealed, unsealed } from "./session.ts";
import { SharedLogins } from "./shared-logins.ts";

/** Maximum number of cached ended sessions and finished logins. */
const MAX_REMEMBERED = 10_000;
/** Time in milliseconds for which an ended session is remembered after its expiry. */
const ENDED_TIME = MINUTE;

type Form = readonly (readonly [name: string, value: string])[];

/** A client of an OpenID provider: creates sessions from logins, renews and ends them. */
export class OidcClient {
  readonly settings: OidcSettings;
  readonly cookieNames: CookieNames;
  /** States of logins that have returned to this process. */
  readonly #finished: Remembered;
  readonly #verifier: JwtVerifier;
  readonly #logoutVerifier: JwtVerifier;
  readonly #known = new VerifiedTokens<KnownSession>();
  readonly #ended: Remembered;
  readonly #renewals: Renewals;

  constructor(settings: OidcSettings) {
    const { issuer, clientId, provider } = settings;
    this.settings = settings;
    this.cookieNames = cookieNames(settings);
    const { base } = this.cookieNames;
    this.#finished = new Remembered(`${base} finished`, MAX_REMEMBERED);
    this.#ended = new Remembered(`${base} ended`, MAX_REMEMBERED);
    this.#renewals = new Renewals(`${base} renewals`);
    const location = { header: "authorization", prefix: "Bearer " };
    const tokens = { issuer, audiences: [clientId], keys: provider.keys };
    this.#verifier = new JwtVerifier({
      location,
      providers: [{ ...tokens, requiredClaims: ["exp", "sub"] }],
    });
    this.#logoutVerifier = new JwtVerifier({
      location,
      providers: [{ ...tokens, requiredClaims: ["exp", "iat", "jti", "events"] }],
      purpose: "logout+jwt",
    });
  }

  /** Returns the session of a browser; `undefined` if there is no session of this client, or this process has ended it. */
  session({ session: text }: BrowserCookies, gateway: GatewayContext): KnownSession | undefined {
    if (text === undefined) return undefined;
    const { sessionKeys } = gateway;
    let known = this.#known.find(text);
    if (known === undefined) {
      known = unsealed(text, sessionKeys, this.cookieNames.base);
      if (known === undefined) return undefined;
      this.#known.add(text, known);
    }
    return this.#ended.has(known.session.id, gateway) ? undefined : known;
  }

  /** Whether another replica has ended a session. Rejects with a StoreError if the store does not respond. */
  async isEndedElsewhere(known: KnownSession, gateway: GatewayContext): Promise<boolean> {
    const logins = loginsOf(gateway);
    if (logins === undefined) return false;
    if (await logins.isEnded(known.session.id)) return true;
    const isAnnounced = this.settings.logout?.backChannelPath !== undefined;
    return isAnnounced && (await logins.isEndedByProvider(this.#id, known));
  }

  /** Answers a request in which the provider announces a logout. */
  respondToLogout(exchange: Exchange): Promise<void> {
    return respondToLogout(exchange, this.#logoutVerifier, async (logout) => {
      await loginsOf(exchange.gateway)?.endByProvider(this.#id, logout);
    });
  }

  /** Identity of the client among those that share a store. */
  get #id(): string {
    return this.settings.clientId;
  }

  /** Uses the state of a login. Returns false if it was used before. Rejects with a StoreError if the store does not respond. */
  async finish(login: BegunLogin, gateway: GatewayContext): Promise<boolean> {
    const end = endOfLogin(login);
    if (!this.#finished.add(login.state, end, gateway)) return false;
    const logins = loginsOf(gateway);
    return logins === undefined || logins.use(login.state, end);
  }

  /** Seals a session for its cookie. */
  sealed(session: Session, { sessionKeys }: GatewayContext): string {
    return sealed(session, sessionKeys, this.cookieNames.base);
  }

  /** Creates the session of a login that has returned with a code. Throws TokensRefused, or an Error. */
  async started(
    login: BegunLogin,
    code: string,
    endpoints: ProviderEndpoints,
    gateway: GatewayContext,
  ): Promise<KnownSession> {
    const form: Form = [
      ["grant_type", "authorization_code"],
      ["code", code],
      ["redirect_uri", this.settings.redirectUri],
      ["code_verifier", login.verifier],
    ];
    const response = await this.#requestTokens(endpoints, form);
    const idToken = await this.#idToken(response, gateway);
    if (idToken === undefined) throw new Error("the response has no id token");
    if (idToken.claims.nonce !== login.nonce)
      throw new Error("the id token belongs to another login");
    const id = randomBytes(16).toString("base64url");
    return {
      session: grantedSession(id, { ...tokensIn(response), idToken }),
      claims: idToken.claims,
    };
  }

  /**
   * Renews a session that is due, with one request to the provider for all concurrent callers of all replicas. `undefined` if it
   * cannot be renewed. Never rejects.
   */
  renewed(before: KnownSession, gateway: GatewayContext): Promise<KnownSession | undefined> {
    const { refreshToken } = before.session;
    if (refreshToken === undefined) return Promise.resolve(undefined);
    const renew = () =>
      this.#renewOnce(before, refreshToken, gateway).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        gateway.warn(`a session could not be renewed: ${reason}`);
        return undefined;
      });
    return this.#renewals.of(refreshToken, renew, gateway);
  }

  /** Ends a session, and revokes its refresh token. Rejects with a StoreError if other replicas would not know. */
  async end(
    { session }: KnownSession,
    endpoints: ProviderEndpoints | undefined,
    gateway: GatewayContext,
  ): Promise<void> {
    const last = Math.max(session.end * SECOND, Date.now()) + ENDED_TIME;
    await loginsOf(gateway)?.end(session.id, last);
    this.#ended.add(session.id, last, gateway);
    const { refreshToken } = session;
    const url = endpoints?.revocationEndpoint;
    if (refreshToken === undefined || endpoints === undefined || url === undefined) return;
    const form: Form = [
      ["token", refreshToken],
      ["token_type_hint", "refresh_token"],
    ];
    const request = tokenRequest(url, form, this.#client(endpoints));
    await fetchResponse(request, { maxBytes: 65_536, deadline: 5 * SECOND }).catch(() => undefined);
  }

  async #renewOnce(
    before: KnownSession,
    refreshToken: string,
    gateway: GatewayContext,
  ): Promise<KnownSession | undefined> {
    const logins = loginsOf(gateway);
    if (logins === undefined) return this.#renew(before, refreshToken, gateway);
    const text = await logins.renewed(refreshToken, async () => {
      const renewed = await this.#renew(before, refreshToken, gateway);
      return this.sealed(renewed.session, gateway);
    });
    return text === undefined
      ? undefined
      : unsealed(text, gateway.sessionKeys, this.cookieNames.base);
  }

  async #renew(
    { session, claims }: KnownSession,
    refreshToken: string,
    gateway: GatewayContext,
  ): Promise<KnownSession> {
    const endpoints = await this.settings.provider.endpoints(gateway);
    if (endpoints === undefined) throw new Error("the provider can't be reached");
    const response = await this.#requestTokens(endpoints, [
      ["grant_type", "refresh_token"],
      ["refresh_token", refreshToken],
    ]);
    const idToken = await this.#idToken(response, gateway);
    // OpenID Connect Core 12.2.
    if (idToken !== undefined && idToken.claims.sub !== claims.sub) {
      throw new Error("the id token belongs to another user");
    }
    const next = grantedSession(session.id, { ...tokensIn(response), idToken }, session);
    return { session: next, claims: idToken?.claims ?? claims };
  }

  #requestTokens(endpoints: ProviderEndpoints, form: Form): Promise<JsonObject> {
    return requestTokens(tokenRequest(endpoints.tokenEndpoint, form, this.#client(endpoints)));
  }

  #client({ tokenEndpointAuth: method }: ProviderEndpoints) {
    const { clientId, clientSecret } = this.settings;
    return { clientId, clientSecret, method };
  }

  /** Returns the verified id token of a response; `undefined` if it is absent. */
  async #idToken(
    { id_token: text }: JsonObject,
    gateway: GatewayContext,
  ): Promise<{ readonly text: string; readonly claims: JsonObject } | undefined> {
    if (typeof text !== "string") return undefined;
    const claims = await this.#verifier.check(text, gateway);
    if (claims instanceof InvalidToken) throw new Error(`the id token: ${claims.reason}`);
    if (claims === "unavailable") throw new Error("the id token can't be checked now");
    // An id token for several parties must name its authorized party (OpenID Connect Core 3.1.3.7).
    const { azp, aud } = claims;
    const isOthers =
      azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== this.settings.clientId;
    if (isOthers) throw new Error("the id token belongs to another client");
    return { text, claims };
  }
}

/** Returns the logins of all replicas; `undefined` without a store. */
function loginsOf({ store }: GatewayContext): SharedLogins | undefined {
  return store && SharedLogins.of(store);
}

function tokensIn({ refresh_token: token, expires_in: time }: JsonObject) {
  return {
    refreshToken: typeof token === "string" ? token : undefined,
    lifetime: typeof time === "number" && time > 0 ? time : undefined,
  };
}

/** Opens the client of a policy, once at startup. */
export function openOidc(settings: OidcSettings): OidcClient {
  return new OidcClient(settings);
}
