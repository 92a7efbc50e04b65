import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { expect, it } from "vitest";
import { isSignedBy } from "../../runtime/auth/jwt/verify-signature.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed = generateKeyPairSync("ed25519");
const curve = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });

const keys: readonly (readonly [string, { publicKey: KeyObject; privateKey: KeyObject }])[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map((alg) => [alg, rsa] as const),
  ["ES256", curve("P-256")],
  ["ES384", curve("P-384")],
  ["ES512", curve("P-521")],
  ["EdDSA", ed],
  ["Ed25519", ed],
];

type Parts = readonly [header: string, payload: string, signature: string];

async function signed(alg: string, key: KeyObject, subject: string): Promise<Parts> {
  const token = await new SignJWT({ sub: subject }).setProtectedHeader({ alg }).sign(key);
  const [header = "", payload = "", signature = ""] = token.split(".");
  return [header, payload, signature];
}

it.each(keys)("a signature of jose with %s is valid", async (alg, { publicKey, privateKey }) => {
  // One of 128 signatures has a number that begins with a zero byte; with ES512, nearly all have.
  const count = alg === "ES256" ? 400 : 20;
  for (let i = 0; i < count; i++) {
    const parts = await signed(alg, privateKey, `subject ${i}`);
    expect(isSignedBy(publicKey, alg, parts), parts.join(".")).toBe(true);
  }
});

it.each(["RS256", "PS256"])("a signature with %s needs its leading zeros", async (alg) => {
  // One of 256 signatures begins with a zero byte.
  for (let i = 0; ; i++) {
    const [header, payload, signature] = await signed(alg, rsa.privateKey, `subject ${i}`);
    const bytes = Buffer.from(signature, "base64url");
    if (bytes[0] !== 0) continue;
    expect(isSignedBy(rsa.publicKey, alg, [header, payload, signature])).toBe(true);
    const shorter = bytes.subarray(1).toString("base64url");
    expect(isSignedBy(rsa.publicKey, alg, [header, payload, shorter])).toBe(false);
    break;
  }
});

it.each(keys)("a changed token with %s is not valid", async (alg, { publicKey, privateKey }) => {
  const [header, payload, signature] = await signed(alg, privateKey, "one");
  const [, otherPayload] = await signed(alg, privateKey, "two");
  const isValid = (...parts: Parts) => isSignedBy(publicKey, alg, parts);
  const bytes = Buffer.from(signature, "base64url");
  const encoded = (changed: Buffer) => changed.toString("base64url");
  expect(isValid(header, otherPayload, signature)).toBe(false);
  expect(isValid(payload, header, signature)).toBe(false);
  for (let at = 0; at < bytes.length; at += 7) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(isValid(header, payload, encoded(changed))).toBe(false);
  }
  expect(isValid(header, payload, "")).toBe(false);
  expect(isValid(header, payload, encoded(Buffer.alloc(bytes.length)))).toBe(false);
  expect(isValid(header, payload, encoded(bytes.subarray(1)))).toBe(false);
  expect(isValid(header, payload, encoded(Buffer.concat([bytes, bytes])))).toBe(false);
  // Other spellings of the same bytes.
  expect(isValid(header, payload, `${signature}=`)).toBe(false);
  expect(isValid(header, payload, ` ${signature}`)).toBe(false);
  expect(isValid(header, payload, `${signature}!`)).toBe(false);
});

it("a signature is only valid for the algorithm that made it", async () => {
  for (const [alg, { privateKey }] of keys.slice(0, 6)) {
    const parts = await signed(alg, privateKey, "one");
    const valid = keys.slice(0, 6).filter(([other]) => isSignedBy(rsa.publicKey, other, parts));
    expect(valid.map(([name]) => name)).toEqual([alg]);
  }
});
