import { decodeJwt } from "jose";
import type { JsonObject } from "../../cel/variables.ts";
import { type SessionKeys, sealSession, unsealSession } from "../../process/session-seal.ts";
import { SECOND } from "../../process/units.ts";

/**
 * Seconds before its expiry when a session is renewed; sessions with a short lifetime are renewed at three quarters of it.
 */
const RENEWAL_MARGIN = 60;
/** Lifetime in seconds of tokens for which the server reports none. */
const DEFAULT_LIFETIME = 300;

/** A login, as stored by the browser. Times are in seconds since 1970. */
export interface Session {
  /** Identity that survives renewals. */
  readonly id: string;
  /** Time of the login, by the clock of the provider; absent in sessions of earlier versions. */
  readonly begun?: number;
  readonly idToken: string;
  readonly refreshToken?: string;
  readonly end: number;
  /** Time from which it is renewed. */
  readonly renewal: number;
}

/** A session and its user's claims. */
export interface KnownSession {
  readonly session: Session;
  readonly claims: JsonObject;
}

/** Tokens that an endpoint issued for a session. */
export interface GrantedTokens {
  /** With verified claims; `undefined` to retain the previous one. */
  readonly idToken: { readonly text: string; readonly claims: JsonObject } | undefined;
  readonly refreshToken: string | undefined;
  /** Lifetime of the access token in seconds. */
  readonly lifetime: number | undefined;
}

/** Creates the session of a login, or renews an earlier one. */
export function grantedSession(
  id: string,
  { idToken, refreshToken, lifetime }: GrantedTokens,
  before?: Session,
): Session {
  const now = seconds();
  const expiry = idToken?.claims.exp;
  const end = typeof expiry === "number" ? expiry : now + (lifetime ?? DEFAULT_LIFETIME);
  const issued = idToken?.claims.iat;
  const token = refreshToken ?? before?.refreshToken;
  return {
    id,
    begun: before === undefined ? (typeof issued === "number" ? issued : now) : (before.begun ?? 0),
    idToken: idToken?.text ?? before?.idToken ?? "",
    ...(token !== undefined && { refreshToken: token }),
    end,
    renewal: end - Math.min(RENEWAL_MARGIN, Math.floor((end - now) / 4)),
  };
}

/** Seals a session for its cookie. */
export function sealed(session: Session, keys: SessionKeys, owner: string): string {
  return sealSession(keys, `oidc session ${owner}`, JSON.stringify(session));
}

/** Unseals a session; `undefined` if it was changed or forged, or belongs to another client. */
export function unsealed(text: string, keys: SessionKeys, owner: string): KnownSession | undefined {
  const state = unsealSession(keys, `oidc session ${owner}`, text);
  if (state === undefined) return undefined;
  // The sealed content was written by `sealed`.
  const session = JSON.parse(state) as Session;
  return { session, claims: decodeJwt(session.idToken) };
}

/** Returns the current time in seconds since 1970. */
export function seconds(): number {
  return Math.floor(Date.now() / SECOND);
}
