import type { JsonObject } from "../../cel/variables.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { type CredentialLocation, locationName } from "../../http/headers/credential-location.ts";
import { refuse } from "../../http/refuse.ts";
import { credentialIn, stripCredential } from "../credentials.ts";
import { InvalidToken } from "./invalid-token.ts";
import type { Verdict } from "./verifier.ts";

/** The `WWW-Authenticate` value of a 401. `error` is undefined when no token was sent (RFC 6750 3.1). */
export type Challenge = (exchange: Exchange, error: "invalid_token" | undefined) => string;

/** Claims, or undefined when the request was answered. */
export type Authenticated = JsonObject | undefined;

/** The token of a request, or undefined without one: other schemes are other policies' business. */
export function tokenIn(exchange: Exchange, location: CredentialLocation): string | undefined {
  return credentialIn(exchange, location, "jwt");
}

/** Lets a request with a valid token go on, without the token; responds to any other. */
export function admit(
  exchange: Exchange,
  verdict: Verdict,
  location: CredentialLocation,
  challenge: Challenge,
): Authenticated {
  if (verdict instanceof InvalidToken) {
    logFields(exchange.record).set("error", verdict.reason);
    const header = challenge(exchange, "invalid_token");
    refuse(exchange, 401, "JwtAuth", "authentication failure: the token is not valid", [
      "www-authenticate",
      header,
    ]);
    return undefined;
  }
  if (verdict === "unavailable") {
    logFields(exchange.record).set("error", "the keys of the issuer are not there");
    refuse(exchange, 503, "JwtAuth", "authentication failure: the token can't be checked now");
    return undefined;
  }
  return consume(exchange, verdict, location);
}

/** Answers a request that has to carry a token and does not. */
export function refuseMissing(
  exchange: Exchange,
  location: CredentialLocation,
  challenge: Challenge,
): undefined {
  logFields(exchange.record).set("error", `no token in ${locationName(location)}`);
  refuse(exchange, 401, "JwtAuth", "authentication failure: no bearer token found", [
    "www-authenticate",
    challenge(exchange, undefined),
  ]);
}

/** Takes the token off the request, so that no upstream sees it, and notes the subject for the log. */
export function consume(
  exchange: Exchange,
  claims: JsonObject,
  location: CredentialLocation,
): JsonObject {
  stripCredential(exchange, location, "jwt");
  if (Object.hasOwn(claims, "sub") && typeof claims.sub === "string") {
    logFields(exchange.record).set("jwt.sub", claims.sub);
  }
  return claims;
}
