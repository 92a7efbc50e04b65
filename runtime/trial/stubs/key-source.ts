import { generateKeyPairSync, sign } from "node:crypto";
import { type KeySet, readKeySet } from "../../auth/jwt/key-set.ts";
import type { KeySource } from "../../auth/jwt/key-source.ts";
import type { JsonObject } from "../../cel/variables.ts";

export type { KeySource };

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });

const set: KeySet = readKeySet({
  keys: [{ ...pair.publicKey.export({ format: "jwk" }), kid: "trial", alg: "ES256" }],
});

/** Replaces auth/jwt/key-source.ts: every issuer has the trial's key. */
export function inlineKeys(): KeySource {
  return { current: () => set, renewed: () => set };
}

/** Replaces auth/jwt/remote-keys.ts. */
export const remoteKeys = inlineKeys;

/** Signs a token with these claims by the trial's key. */
export function signedToken(claims: JsonObject): string {
  const head = { alg: "ES256", kid: "trial", typ: "JWT" };
  const text = [head, claims].map((part) => encoded(JSON.stringify(part))).join(".");
  const key = { key: pair.privateKey, dsaEncoding: "ieee-p1363" } as const;
  return `${text}.${encoded(sign("sha256", Buffer.from(text), key))}`;
}

function encoded(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString("base64url");
}
