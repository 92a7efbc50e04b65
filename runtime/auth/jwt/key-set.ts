import { createPublicKey, type KeyObject } from "node:crypto";
import type { JsonObject } from "../../cel/variables.ts";

/** Keys that verify signatures. */
export type KeySet = readonly VerificationKey[];

/** One public key. Its algorithms follow from the key; a token can only choose among them. */
export interface VerificationKey {
  readonly kid: string | undefined;
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/**
 * Reads a JSON Web Key Set (RFC 7517). Omits keys that are not for verifying signatures, and unknown types. Throws if it is
 * not a key set, or contains a symmetric or private key, which is compromised once it is published.
 */
export function readKeySet(set: JsonObject): KeySet {
  const { keys } = set;
  if (!Array.isArray(keys)) throw new Error("not a key set");
  return keys.flatMap((jwk) => readKey(jwk) ?? []);
}

/**
 * Returns the keys that may have signed a token: those with its `kid`, or the only key for its algorithm if it has no `kid`.
 */
export function keysFor(set: KeySet, alg: string, kid: string | undefined): KeySet {
  const fitting = set.filter((key) => key.algorithms.includes(alg));
  if (kid !== undefined) return fitting.filter((key) => key.kid === kid);
  return fitting.length === 1 ? fitting : [];
}

function readKey(jwk: unknown): VerificationKey | undefined {
  if (typeof jwk !== "object" || jwk === null) throw new Error("not a key");
  // Every member is checked before it is used.
  const members = jwk as Record<string, unknown>;
  const { kty, kid, use, key_ops, alg, crv } = members;
  if (kty === "oct" || Object.hasOwn(members, "d") || Object.hasOwn(members, "k")) {
    throw new Error("a symmetric or private key");
  }
  if (use !== undefined && use !== "sig") return undefined;
  if (Array.isArray(key_ops) && !key_ops.includes("verify")) return undefined;
  const byType = ALGORITHMS_BY_TYPE.get(kty === "RSA" ? "RSA" : `${kty} ${crv}`);
  if (byType === undefined) return undefined;
  const algorithms = alg === undefined ? byType : byType.filter((name) => name === alg);
  if (algorithms.length === 0) return undefined;
  const key = importKey(members);
  if (key === undefined) return undefined;
  return { kid: typeof kid === "string" ? kid : undefined, algorithms, key };
}

/** Unreadable keys are ignored (RFC 7517 5). RSA keys need at least 2048 bits (RFC 7518 3.3). */
function importKey(members: Record<string, unknown>): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: members, format: "jwk" });
    return (key.asymmetricKeyDetails?.modulusLength ?? 2048) < 2048 ? undefined : key;
  } catch {
    return undefined;
  }
}

/** RFC 7518 3.1, RFC 8037, RFC 9864. */
const ALGORITHMS_BY_TYPE: ReadonlyMap<string, readonly string[]> = new Map([
  ["RSA", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]],
  ["EC P-256", ["ES256"]],
  ["EC P-384", ["ES384"]],
  ["EC P-521", ["ES512"]],
  ["OKP Ed25519", ["EdDSA", "Ed25519"]],
]);
