import { errors } from "jose";
import { SECOND } from "../../process/units.ts";

/** Reason why a token is invalid: for the log, never for its client. */
export class InvalidToken {
  /** `aud "shop", expected "tools"`. May contain claims, but never the token. */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Converts an error of the verification. */
export function invalidToken(
  error: unknown,
  expected: { readonly audiences: readonly string[]; readonly issuer: string },
): InvalidToken {
  if (error instanceof errors.JWTExpired) {
    const { exp = 0 } = error.payload;
    return new InvalidToken(`expired ${Math.floor(Date.now() / SECOND - exp)} s ago`);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason, payload } = error;
    if (reason === "missing") return new InvalidToken(`the claim "${claim}" is missing`);
    if (claim === "aud") {
      return new InvalidToken(`aud ${listed(payload.aud)}, expected ${listed(expected.audiences)}`);
    }
    if (claim === "nbf" && typeof payload.nbf === "number") {
      const seconds = Math.ceil(payload.nbf - Date.now() / SECOND);
      return new InvalidToken(`not valid for another ${seconds} s`);
    }
    return new InvalidToken(`the claim "${claim}" is not valid`);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new InvalidToken(`its signature matches no key of "${expected.issuer}"`);
  }
  return new InvalidToken("not a JWT that can be verified");
}

/** `"a", "b"`. */
export function listed(values: string | readonly string[] | undefined): string {
  const texts = [values ?? []].flat().map((value) => JSON.stringify(value));
  return texts.length === 0 ? "none" : texts.join(", ");
}
