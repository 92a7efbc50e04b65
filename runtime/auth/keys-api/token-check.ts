import { noteSubject } from "../../http/caller-identity.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { InvalidToken } from "../jwt/invalid-token.ts";
import { type JwtProvider, JwtVerifier } from "../jwt/verifier.ts";

/** Tokens for the API, and what their holders may do. */
export interface TokenCheckSettings {
  readonly providers: readonly JwtProvider[];
  /** Whether a request is allowed, whose token is verified and is `attributes.jwt`. */
  readonly isAllowed: (request: Exchange) => boolean;
}

/** Checks the tokens of clients of the API for keys. */
export class KeysApiTokenCheck {
  readonly #verifier: JwtVerifier;
  readonly #isAllowed: TokenCheckSettings["isAllowed"];

  constructor({ providers, isAllowed }: TokenCheckSettings) {
    const location = { header: "authorization", prefix: "Bearer " };
    this.#verifier = new JwtVerifier({ location, providers });
    this.#isAllowed = isAllowed;
  }

  /**
   * Returns whether the holder of a token may send a request, or the reason why the token is invalid for the log; `unavailable` if
   * it cannot be verified now.
   */
  async check(token: string, exchange: Exchange): Promise<string> {
    const claims = await this.#verifier.check(token, exchange.gateway);
    if (claims instanceof InvalidToken) return claims.reason;
    if (claims === "unavailable") return claims;
    exchange.attributes.jwt = claims;
    if (typeof claims.sub === "string") logFields(exchange.record).set("jwt.sub", claims.sub);
    noteSubject(exchange.record, claims);
    return this.#isAllowed(exchange) ? "allowed" : "denied";
  }
}
