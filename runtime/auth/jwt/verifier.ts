import type { KeyObject } from "node:crypto";
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JWTClaimVerificationOptions,
  type JWTPayload,
  UnsecuredJWT,
} from "jose";
import type { JsonObject } from "../../cel/variables.ts";
import type { CredentialLocation } from "../../http/headers/credential-location.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { InvalidToken, invalidToken, listed } from "./invalid-token.ts";
import { type KeySet, keysFor } from "./key-set.ts";
import type { KeySource } from "./key-source.ts";
import { VerifiedTokens } from "./verified-tokens.ts";
import { isSignedBy } from "./verify-signature.ts";

/** Accepted tokens. */
export interface JwtSettings {
  /** Location of the token. */
  readonly location: CredentialLocation;
  readonly providers: readonly JwtProvider[];
  /** Scopes that a refusal names, separated by spaces; absent if it names none. */
  readonly scope?: string;
  /** Accepted type of tokens that do not authenticate requests; absent if all tokens do. */
  readonly purpose?: OtherPurpose;
}

/** Types of tokens for other purposes than requests that a verifier may accept. */
type OtherPurpose = "logout+jwt";

/** An issuer, its audiences (one of which tokens must name; empty: any), its required claims, and its keys. */
export interface JwtProvider {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly string[];
  readonly keys: KeySource;
}

/** Claims; or the reason why the token is invalid; or "unavailable" if the keys to verify it could not be fetched. */
export type Verdict = JsonObject | InvalidToken | "unavailable";

/** Permitted clock skew in seconds. */
const CLOCK_SKEW = 60;
/** Maximum length in characters. Most proxies accept less in a header. */
const MAX_TOKEN_LENGTH = 16_384;

/** Verifies tokens for one `jwtAuth` or `mcpAuthentication`, and caches valid ones until they or their keys expire. */
export class JwtVerifier {
  readonly location: CredentialLocation;
  /** Scopes that a refusal names; `undefined` if it names none. */
  readonly scope: string | undefined;
  readonly #providers: readonly JwtProvider[];
  readonly #purpose: OtherPurpose | undefined;
  readonly #tokens = new VerifiedTokens<VerifiedToken>();

  constructor({ location, providers, scope, purpose }: JwtSettings) {
    this.location = location;
    this.scope = scope;
    this.#providers = providers;
    this.#purpose = purpose;
  }

  /**
   * Checks issuer, audience, signature, required claims, `exp` and `nbf`, with 60 seconds of clock skew. The algorithm must
   * be one of the key's (RFC 8725 3.1). The promise never rejects.
   */
  check(token: string, gateway: GatewayContext): Verdict | Promise<Verdict> {
    const known = this.#tokens.find(token);
    if (known === undefined) return this.#verify(token, gateway);
    if (known.endsAt > Date.now() && known.keys.current(gateway) === known.keySet) {
      return known.claims;
    }
    this.#tokens.drop(token);
    return this.#verify(token, gateway);
  }

  async #verify(token: string, gateway: GatewayContext): Promise<Verdict> {
    const signed = readUnverified(token, this.#purpose);
    if (signed === undefined) return new InvalidToken("not a signed JWT with an issuer");
    let verdict: InvalidToken | "unavailable" = new InvalidToken(
      `iss "${signed.issuer}", expected ${listed(this.#providers.map(({ issuer }) => issuer))}`,
    );
    for (const provider of this.#providers) {
      if (provider.issuer !== signed.issuer) continue;
      const found = await verifyWith(provider, token, signed, gateway);
      if (found !== "unavailable" && !(found instanceof InvalidToken)) {
        this.#tokens.add(token, found);
        return found.claims;
      }
      if (verdict !== "unavailable") verdict = found;
    }
    return verdict;
  }
}

/** Opens the verifier of a policy, once at startup. */
export function openJwt(settings: JwtSettings): JwtVerifier {
  return new JwtVerifier(settings);
}

interface VerifiedToken {
  readonly claims: JsonObject;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
  readonly keys: KeySource;
  /** Keys that verified it; when they change, it is verified again. */
  readonly keySet: KeySet;
}

/** Unverified content of a token, used only to choose the issuer and the key. */
interface UnverifiedToken {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly issuer: string;
}

/**
 * Returns `undefined` for strings that are not acceptable JWTs: too long, encrypted, with critical extensions (RFC 7515
 * 4.1.11), or for another purpose.
 */
function readUnverified(
  token: string,
  purpose: OtherPurpose | undefined,
): UnverifiedToken | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined;
  try {
    const { alg, kid, crit, typ } = decodeProtectedHeader(token);
    if (typ !== undefined && (typeof typ !== "string" || isOther(tokenType(typ), purpose)))
      return undefined;
    const { iss } = decodeJwt(token);
    if (typeof alg !== "string" || typeof iss !== "string" || crit !== undefined) return undefined;
    if (kid !== undefined && typeof kid !== "string") return undefined;
    return { alg, kid, issuer: iss };
  } catch {
    return undefined;
  }
}

/**
 * Types of tokens that an issuer also signs, perhaps for the same audience, but that do not authenticate requests (RFC 8725
 * 3.11).
 */
const OTHER_PURPOSES: ReadonlySet<string> = new Set([
  ...["logout+jwt", "secevent+jwt", "dpop+jwt", "token-introspection+jwt"],
  ...["oauth-authz-req+jwt", "client-authentication+jwt", "kb+jwt"],
]);

function isOther(type: string, purpose: OtherPurpose | undefined): boolean {
  return type !== purpose && OTHER_PURPOSES.has(type);
}

/**
 * Normalizes the media type of a token (RFC 7515 4.1.9): lower case, without the optional `application/`, and without
 * parameters.
 */
function tokenType(typ: string): string {
  const [type = ""] = typ.split(";", 1);
  return type
    .trim()
    .toLowerCase()
    .replace(/^application\//, "");
}

async function verifyWith(
  { issuer, audiences, requiredClaims, keys }: JwtProvider,
  token: string,
  { alg, kid }: UnverifiedToken,
  gateway: GatewayContext,
): Promise<VerifiedToken | InvalidToken | "unavailable"> {
  let keySet = keys.current(gateway);
  let candidates = keySet === undefined ? [] : keysFor(keySet, alg, kid);
  if (candidates.length === 0) {
    keySet = await keys.renewed(gateway);
    if (keySet === undefined) return "unavailable";
    candidates = keysFor(keySet, alg, kid);
  }
  if (keySet === undefined) return "unavailable";
  let invalid = new InvalidToken(
    `"${issuer}" has no ${kid === undefined ? "single key" : `key "${kid}"`} for ${alg}`,
  );
  for (const { key } of candidates) {
    try {
      const payload = verifiedClaims(token, key, alg, {
        issuer,
        ...(audiences.length === 0 ? {} : { audience: [...audiences] }),
        requiredClaims: [...requiredClaims],
        clockTolerance: CLOCK_SKEW,
      });
      return { claims: freeze(payload), endsAt: endOf(payload), keys, keySet };
    } catch (error) {
      // Another key may have the same name.
      invalid = invalidToken(error, { audiences, issuer });
    }
  }
  return invalid;
}

/** Returns the claims of a token after verifying its signature, and then its claims. Throws an error of jose. */
function verifiedClaims(
  token: string,
  key: KeyObject,
  alg: string,
  options: JWTClaimVerificationOptions,
): JWTPayload {
  const [header = "", payload = "", signature = "", ...others] = token.split(".");
  if (others.length > 0) throw new errors.JWTInvalid();
  if (!isSignedBy(key, alg, [header, payload, signature]))
    throw new errors.JWSSignatureVerificationFailed();
  // The claims are those of the verified bytes, and jose checks them in the form of a token without a signature.
  return UnsecuredJWT.decode(`${UNSIGNED_HEADER}.${payload}.`, options).payload;
}

const UNSIGNED_HEADER = Buffer.from('{"alg":"none"}').toString("base64url");

/** A token without `exp` is valid as long as its key. */
function endOf({ exp = Number.POSITIVE_INFINITY }: JWTPayload): number {
  return (exp + CLOCK_SKEW) * 1000;
}

/** Freezes claims, which all requests of a token share. Not recursive, because the client chooses the depth. */
function freeze(claims: JWTPayload): JsonObject {
  const open: object[] = [claims];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const member of Object.values(value)) {
      if (typeof member === "object" && member !== null) open.push(member);
    }
    Object.freeze(value);
  }
  return claims;
}
