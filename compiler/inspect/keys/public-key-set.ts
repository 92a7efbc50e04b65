import { createPrivateKey, createPublicKey, type JsonWebKey } from "node:crypto";

/**
 * Returns the key set (RFC 7517) with the public part of a private key (PEM), as JSON; `undefined` if the text is no private
 * key. `keyId`: its `kid`, if tokens have one.
 */
export function publicKeySet(pem: string, keyId: string | undefined): string | undefined {
  const jwk = publicPart(pem);
  if (jwk === undefined) return undefined;
  const key = { ...jwk, use: "sig", ...(keyId !== undefined && { kid: keyId }) };
  return JSON.stringify({ keys: [key] });
}

function publicPart(pem: string): JsonWebKey | undefined {
  try {
    return createPublicKey(createPrivateKey(pem)).export({ format: "jwk" });
  } catch {
    return undefined;
  }
}
