import {
  type JwtSettings,
  JwtVerifier as RealVerifier,
  type Verdict,
} from "../../auth/jwt/verifier.ts";
import type { JsonObject } from "../../cel/variables.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { currentTrial } from "../trial.ts";
import { readCredential } from "../trial-credential.ts";
import { signedToken } from "./key-source.ts";

/**
 * Replaces auth/jwt/verifier.ts: signs the trial's claims as a token of one of the issuers, and verifies it like any other.
 */
export class JwtVerifier extends RealVerifier {
  readonly #settings: JwtSettings;

  constructor(settings: JwtSettings) {
    super(settings);
    this.#settings = settings;
  }

  override check(token: string, gateway: GatewayContext): Verdict | Promise<Verdict> {
    const claims = readCredential(token);
    if (claims === undefined) return super.check(token, gateway);
    const complete = this.#complete(claims);
    currentTrial().claims = complete;
    return super.check(signedToken(complete), gateway);
  }

  /** Adds claims that make a token valid now and for this gateway, unless the trial has its own. */
  #complete(claims: JsonObject): JsonObject {
    const { providers } = this.#settings;
    const provider = providers.find(({ issuer }) => issuer === claims.iss) ?? providers[0];
    const [audience] = provider?.audiences ?? [];
    const now = Math.floor(Date.now() / 1000);
    const { requiredClaims = [] } = provider ?? {};
    return {
      ...(provider && { iss: provider.issuer }),
      ...(audience !== undefined && { aud: audience }),
      ...(requiredClaims.includes("nbf") && { nbf: now }),
      exp: now + 3600,
      ...claims,
    };
  }
}

/** Opens the verifier of a policy. */
export function openJwt(settings: JwtSettings): JwtVerifier {
  return new JwtVerifier(settings);
}
