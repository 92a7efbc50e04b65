import { createHmac, createPublicKey } from "node:crypto";
import { CompactSign, importJWK, type JWK, type JWTHeaderParameters } from "jose";

/** Seconds since the epoch. */
export const now = (): number => Math.floor(Date.now() / 1000);

/** Signs exactly these claims, given as an object or as their JSON text. */
export async function sign(
  key: JWK,
  claims: object | string,
  header: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const alg = header.alg ?? key.alg ?? "RS256";
  const { kid } = key;
  const own = kid === undefined ? {} : { kid };
  const text = typeof claims === "string" ? claims : JSON.stringify(claims);
  return new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ ...own, ...header, alg })
    .sign(await importJWK(key, alg));
}

/** Header and claims as they are, with a signature of the caller's: what a library would refuse to make. */
export function assemble(header: object, claims: object, signature: (input: string) => string) {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${signature(input)}`;
}

/** The classic confusion of algorithms: the public key's text as an HMAC secret. */
export function hmacWithPublicKey(key: JWK): (input: string) => string {
  const { kty, n, e } = key;
  const publicKey = createPublicKey({
    key: { kty: kty ?? "", n: n ?? "", e: e ?? "" },
    format: "jwk",
  });
  const secret = publicKey.export({ type: "spki", format: "pem" });
  return (input) => createHmac("sha256", secret).update(input).digest("base64url");
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** The part of a key that its owner publishes. */
export function publicPart({ kty, kid, alg, use, n, e, crv, x, y }: JWK): JWK {
  return JSON.parse(JSON.stringify({ kty, kid, alg, use, n, e, crv, x, y }));
}

/** The public key of RFC 8037, appendix A.2: of a key that no test signs with. */
export const ed25519 = {
  kty: "OKP",
  crv: "Ed25519",
  kid: "unused",
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
};
