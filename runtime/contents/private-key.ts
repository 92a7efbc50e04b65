import { createPrivateKey, type KeyObject } from "node:crypto";

/** Signature algorithms of tokens that the gateway signs (RFC 7518 3.1). */
export type SigningAlgorithm = "RS256" | "RS384" | "RS512" | "PS256" | "ES256" | "ES384";

/** Elliptic curves of the algorithms that have one. */
const CURVES: Readonly<Partial<Record<SigningAlgorithm, string>>> = {
  ES256: "prime256v1",
  ES384: "secp384r1",
};

/**
 * Reads a private key (PEM, PKCS#8, PKCS#1 or SEC 1) for an algorithm, or for any of them. Throws an Error that does not
 * quote the content.
 */
export function readPrivateKey(text: string, algorithm?: SigningAlgorithm): KeyObject {
  const key = parsedKey(text.trim());
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve, modulusLength } = {} } = key;
  if (type !== "rsa" && type !== "ec") throw new Error("is not an RSA or EC key");
  if (type === "rsa" && (modulusLength ?? 0) < 2048) throw new Error("has fewer than 2048 bits");
  if (algorithm === undefined) return key;
  const curve = CURVES[algorithm];
  if (curve === undefined ? type !== "rsa" : namedCurve !== curve)
    throw new Error(`is not a key for ${algorithm}`);
  return key;
}

function parsedKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error("is not a private key in PEM");
  }
}
