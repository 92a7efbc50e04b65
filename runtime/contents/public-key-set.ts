import { createPublicKey, type JsonWebKey } from "node:crypto";
import { readPrivateKey, type SigningAlgorithm } from "./private-key.ts";

/** Fields of a key in a key set, in addition to the key. */
export interface KeyDetails {
  readonly keyId?: string | undefined;
  readonly algorithm?: SigningAlgorithm | undefined;
}

/**
 * Returns the public part of a private key (PEM) as an item of a key set (RFC 7517). Throws an Error that does not quote the
 * content if it is no private key, or none for the algorithm.
 */
export function publicKeyOf(pem: string, { keyId, algorithm }: KeyDetails): JsonWebKey {
  const key = createPublicKey(readPrivateKey(pem, algorithm)).export({ format: "jwk" });
  return {
    ...key,
    use: "sig",
    ...(keyId !== undefined && { kid: keyId }),
    ...(algorithm !== undefined && { alg: algorithm }),
  };
}

/** Returns a key set (RFC 7517) as JSON. */
export function keySetOf(keys: readonly JsonWebKey[]): string {
  return JSON.stringify({ keys });
}
