import { generateKeyPairSync, sign } from "node:crypto";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");

/** The issuer of the tests' tokens, and its key set as JSON. */
export const issuer = "https://issuer.test";
export const keySet = JSON.stringify({
  keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", alg: "EdDSA" }],
});

/** Returns the request headers of a client with a valid token of this subject. */
export function as(subject: string): { readonly authorization: string } {
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = encode({ alg: "EdDSA", kid: "k" });
  const input = `${head}.${encode({ iss: issuer, sub: subject, exp: now + 3600 })}`;
  return {
    authorization: `Bearer ${input}.${sign(null, Buffer.from(input), privateKey).toString("base64url")}`,
  };
}
