import { constants, type KeyObject, verify } from "node:crypto";

/**
 * Verifies the signature of a compact JWS (RFC 7515 3.1), whose three parts are split. `alg` is one of the key's algorithms.
 * Takes half of the CPU that WebCrypto takes: no job on another thread, and OpenSSL's own form of ECDSA signatures.
 */
export function isSignedBy(
  key: KeyObject,
  alg: string,
  [header, payload, encoded]: readonly [string, string, string],
): boolean {
  const signature = Buffer.from(encoded, "base64url");
  // Node ignores characters that are not base64url. Each signature has one spelling.
  if (signature.length === 0 || signature.toString("base64url") !== encoded) return false;
  const signed = Buffer.from(`${header}.${payload}`);
  const ecBytes = EC_BYTES[alg];
  if (ecBytes !== undefined) {
    if (signature.length !== 2 * ecBytes) return false;
    return verify(`sha${alg.slice(2)}`, signed, key, derSignature(signature, ecBytes));
  }
  // RFC 8037 3.1, RFC 9864.
  if (alg === "EdDSA" || alg === "Ed25519") return verify(null, signed, key, signature);
  // OpenSSL also accepts a number without its leading zero bytes.
  if (signature.length !== modulusBytes(key)) return false;
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith("RS")) return verify(hash, signed, key, signature);
  if (!alg.startsWith("PS")) return false;
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  return verify(hash, signed, { key, padding, saltLength }, signature);
}

/** Returns the length of the signatures of an RSA key (RFC 8017 8.1.2 and 8.2.2); `undefined` for another key. */
function modulusBytes({ asymmetricKeyDetails }: KeyObject): number | undefined {
  const bits = asymmetricKeyDetails?.modulusLength;
  return bits === undefined ? undefined : Math.ceil(bits / 8);
}

/** Bytes of each of the two numbers of a signature (RFC 7518 3.4). */
const EC_BYTES: Readonly<Record<string, number>> = { ES256: 32, ES384: 48, ES512: 66 };

/** Converts the two numbers of an ECDSA signature to DER (RFC 3279 2.2.3), which OpenSSL verifies faster. */
function derSignature(signature: Buffer, bytes: number): Buffer {
  const r = derInteger(signature.subarray(0, bytes));
  const s = derInteger(signature.subarray(bytes));
  const length = r.length + s.length;
  const start = length < 0x80 ? [0x30, length] : [0x30, 0x81, length];
  return Buffer.concat([Buffer.from(start), r, s]);
}

/** DER requires the shortest form; a number whose first bit is set gets a zero byte, because it is not negative. */
function derInteger(bytes: Buffer): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const number = bytes.subarray(from);
  const isPadded = (number[0] ?? 0) >= 0x80;
  const start = isPadded ? [0x02, number.length + 1, 0] : [0x02, number.length];
  return Buffer.concat([Buffer.from(start), number]);
}
