import type { JsonObject } from "../../cel/variables.ts";
import { noteSubject } from "../../http/caller-identity.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { type CredentialLocation, locationName } from "../../http/headers/credential-location.ts";
import { refuse } from "../../http/refuse.ts";
import { credentialIn, stripCredential } from "../credentials.ts";
import { refuseCredential } from "../refuse-credential.ts";
import { InvalidToken } from "./invalid-token.ts";
import type { Verdict } from "./verifier.ts";

/** Returns the `WWW-Authenticate` value of a 401. `error` is `undefined` if no token was sent (RFC 6750 3.1). */
export type Challenge = (exchange: Exchange, error: "invalid_token" | undefined) => string;

/** Claims; `undefined` if the request was answered. */
export type Authenticated = JsonObject | undefined;

/** Returns the token of a request; `undefined` if it is absent. Other schemes belong to other policies. */
export function tokenIn(exchange: Exchange, location: CredentialLocation): string | undefined {
  return credentialIn(exchange, location, "jwt");
}

/** Lets a request with a valid token pass, without the token, and responds to any other. */
export function admit(
  exchange: Exchange,
  verdict: Verdict,
  location: CredentialLocation,
  challenge: Challenge,
): Authenticated {
  if (verdict instanceof InvalidToken) {
    logFields(exchange.record).set("error", verdict.reason);
    refuseCredential(exchange, location, {
      reason: "JwtAuth",
      message: "authentication failure: the token is not valid",
      challenge: challenge(exchange, "invalid_token"),
    });
    return undefined;
  }
  if (verdict === "unavailable") {
    logFields(exchange.record).set("error", "the issuer's keys are unavailable");
    refuse(exchange, 503, "JwtAuth", "authentication failure: the token can't be checked now");
    return undefined;
  }
  return consume(exchange, verdict, location);
}

/** Refuses a request that requires a token. */
export function refuseMissing(
  exchange: Exchange,
  location: CredentialLocation,
  challenge: Challenge,
): undefined {
  logFields(exchange.record).set("error", `no token in ${locationName(location)}`);
  refuseCredential(exchange, location, {
    reason: "JwtAuth",
    message: "authentication failure: no bearer token found",
    challenge: challenge(exchange, undefined),
  });
}

/** Removes the token from the request, so that no upstream sees it, and logs its subject. */
export function consume(
  exchange: Exchange,
  claims: JsonObject,
  location: CredentialLocation,
): JsonObject {
  stripCredential(exchange, location, "jwt");
  if (Object.hasOwn(claims, "sub") && typeof claims.sub === "string") {
    logFields(exchange.record).set("jwt.sub", claims.sub);
    noteSubject(exchange.record, claims);
  }
  return claims;
}
