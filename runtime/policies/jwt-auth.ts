import {
  type Authenticated,
  admit,
  type Challenge,
  consume,
  refuseMissing,
  tokenIn,
} from "../auth/jwt/authenticate.ts";
import { InvalidToken } from "../auth/jwt/invalid-token.ts";
import type { JwtVerifier } from "../auth/jwt/verifier.ts";
import type { JsonObject } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";

export {
  type JwtProvider,
  type JwtSettings,
  type JwtVerifier,
  openJwt,
} from "../auth/jwt/verifier.ts";

/**
 * Strict mode: returns the claims of a valid token, or `undefined` if the request was refused (401, or 503 without keys to
 * verify it).
 */
export function requireJwt(exchange: Exchange, verifier: JwtVerifier): MaybePromise<Authenticated> {
  const token = tokenIn(exchange, verifier.location);
  if (token === undefined) return refuseMissing(exchange, verifier.location, bearer);
  const verdict = verifier.check(token, exchange.gateway);
  return thenMaybe(verdict, (found) => admit(exchange, found, verifier.location, bearer));
}

/** Optional mode: like strict mode if the request has a token; otherwise returns null. */
export function acceptJwt(
  exchange: Exchange,
  verifier: JwtVerifier,
): MaybePromise<Authenticated | null> {
  return tokenIn(exchange, verifier.location) === undefined ? null : requireJwt(exchange, verifier);
}

/**
 * Permissive mode: returns the claims of a valid token, otherwise null; refuses nothing. An invalid token is forwarded
 * upstream.
 */
export async function observeJwt(
  exchange: Exchange,
  verifier: JwtVerifier,
): Promise<JsonObject | null> {
  const token = tokenIn(exchange, verifier.location);
  if (token === undefined) return null;
  const verdict = await verifier.check(token, exchange.gateway);
  if (verdict === "unavailable" || verdict instanceof InvalidToken) return null;
  return consume(exchange, verdict, verifier.location);
}

const bearer: Challenge = (_exchange, error) =>
  error === undefined ? "Bearer" : `Bearer error="${error}"`;
