import { decodeJwt } from "jose";
import type { JsonObject } from "../../cel/variables.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";
import { SECOND } from "../../process/units.ts";

/** Seconds before its end that a session is renewed, when it is good for long; else at three quarters of its time. */
const AHEAD = 60;
/** Seconds that tokens are good for when their server does not say. */
const UNSAID_LIFETIME = 300;

/** A login, as the browser keeps it. Times in seconds since 1970. */
export interface Session {
  /** Tells it from others, whatever it is renewed to. */
  readonly id: string;
  readonly idToken: string;
  readonly refreshToken?: string;
  readonly end: number;
  /** From then on it is renewed. */
  readonly renewal: number;
}

/** A session and who has it. */
export interface KnownSession {
  readonly session: Session;
  readonly claims: JsonObject;
}

/** What a token endpoint gave for a session. */
export interface GrantedTokens {
  /** With verified claims; undefined: the one of before goes on. */
  readonly idToken: { readonly text: string; readonly claims: JsonObject } | undefined;
  readonly refreshToken: string | undefined;
  /** Seconds that the access token is good for. */
  readonly lifetime: number | undefined;
}

/** The session of a login, or what became of an earlier one. */
export function grantedSession(
  id: string,
  { idToken, refreshToken, lifetime }: GrantedTokens,
  before?: Session,
): Session {
  const now = seconds();
  const said = idToken?.claims.exp;
  const end = typeof said === "number" ? said : now + (lifetime ?? UNSAID_LIFETIME);
  const kept = refreshToken ?? before?.refreshToken;
  return {
    id,
    idToken: idToken?.text ?? before?.idToken ?? "",
    ...(kept !== undefined && { refreshToken: kept }),
    end,
    renewal: end - Math.min(AHEAD, Math.floor((end - now) / 4)),
  };
}

/** The session as a cookie holds it. */
export function sealed(session: Session, key: Buffer, owner: string): string {
  return sealSession(key, `oidc session ${owner}`, JSON.stringify(session));
}

/** The session that was sealed; undefined: it is changed, made up, or another client's. */
export function unsealed(text: string, key: Buffer, owner: string): KnownSession | undefined {
  const state = unsealSession(key, `oidc session ${owner}`, text);
  if (state === undefined) return undefined;
  // What is unsealed was written by `sealed`.
  const session = JSON.parse(state) as Session;
  return { session, claims: decodeJwt(session.idToken) };
}

/** Now, in seconds since 1970. */
export function seconds(): number {
  return Math.floor(Date.now() / SECOND);
}
