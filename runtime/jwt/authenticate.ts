import type { JsonObject } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import type { Verdict } from "./verifier.ts";

/** The `WWW-Authenticate` value of a 401. `error` is undefined when no token was sent (RFC 6750 3.1). */
export type Challenge = (exchange: Exchange, error: "invalid_token" | undefined) => string;

/** Claims, or undefined when the request was answered. */
export type Authenticated = JsonObject | undefined;

/** The bearer token of a request (RFC 6750 2.1), or undefined without one: other schemes are other policies' business. */
export function bearerToken(exchange: Exchange): string | undefined {
  const value = exchange.header("authorization");
  if (value === undefined || value.length < 7) return undefined;
  if (value.slice(0, 7).toLowerCase() !== "bearer ") return undefined;
  return value.slice(7).trim();
}

/** Lets a request with a valid token go on, without the token; answers any other. */
export function admit(exchange: Exchange, verdict: Verdict, challenge: Challenge): Authenticated {
  if (verdict === "invalid") {
    const header = challenge(exchange, "invalid_token");
    refuse(exchange, 401, "JwtAuth", "authentication failure: the token is not valid", [
      "www-authenticate",
      header,
    ]);
    return undefined;
  }
  if (verdict === "unavailable") {
    refuse(exchange, 503, "JwtAuth", "authentication failure: the token can't be checked now");
    return undefined;
  }
  return consume(exchange, verdict);
}

/** Answers a request that has to carry a token and does not. */
export function refuseMissing(exchange: Exchange, challenge: Challenge): undefined {
  refuse(exchange, 401, "JwtAuth", "authentication failure: no bearer token found", [
    "www-authenticate",
    challenge(exchange, undefined),
  ]);
}

/** Takes the token off the request, so that no upstream sees it, and notes the subject for the log. */
export function consume(exchange: Exchange, claims: JsonObject): JsonObject {
  exchange.removeRequestHeader("authorization");
  if (Object.hasOwn(claims, "sub") && typeof claims.sub === "string") {
    exchange.record.fields ??= new Map();
    exchange.record.fields.set("jwt.sub", claims.sub);
  }
  return claims;
}
