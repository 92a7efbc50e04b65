import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** A key set and a token signed with its key. */
export interface Identity {
  /** The key set's JSON: public keys only. */
  readonly jwks: string;
  readonly token: string;
}

/** An identity that gateways/chain.yaml admits. */
export async function makeIdentity(): Promise<Identity> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: "bench", alg: "ES256", use: "sig" };
  const token = await new SignJWT({ role: "reader" })
    .setProtectedHeader({ alg: "ES256", kid: "bench" })
    .setIssuer("https://idp.example.com")
    .setAudience("bench")
    .setSubject("user-1")
    .setExpirationTime("1h")
    .sign(privateKey);
  return { jwks: JSON.stringify({ keys: [key] }), token };
}
