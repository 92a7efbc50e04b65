import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** A key set, and tokens signed with its key. */
export interface Identities {
  /** The key set's JSON: public keys only. */
  readonly jwks: string;
  readonly tokens: readonly string[];
}

/** Tokens of so many users that gateways/chain.yaml admits. */
export async function makeIdentities(users: number): Promise<Identities> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: "bench", alg: "ES256", use: "sig" };
  const signed = Array.from({ length: users }, (_, user) =>
    new SignJWT({ role: "reader" })
      .setProtectedHeader({ alg: "ES256", kid: "bench" })
      .setIssuer("https://idp.example.com")
      .setAudience("bench")
      .setSubject(`user-${user + 1}`)
      .setExpirationTime("1h")
      .sign(privateKey),
  );
  return { jwks: JSON.stringify({ keys: [key] }), tokens: await Promise.all(signed) };
}
