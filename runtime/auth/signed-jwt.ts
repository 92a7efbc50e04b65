import type { KeyObject } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { readPrivateKey, type SigningAlgorithm } from "../contents/private-key.ts";
import type { UpstreamCredential } from "../http/upstream/upstream.ts";
import { startupError } from "../process/startup-error.ts";
import { SECOND } from "../process/units.ts";
import { WatchedFile } from "../process/watched-file.ts";
import { putCredential, type SentPlace } from "./sent-credential.ts";
import type { SignerCertificate } from "./signer-certificate.ts";

/** How tokens are signed. */
export interface SignerSettings {
  readonly key: () => KeyObject;
  readonly algorithm: SigningAlgorithm;
  /** `kid` of the header; absent for none. */
  readonly keyId?: string | undefined;
  /** Shows a certificate in the header; absent for none. */
  readonly certificate?: SignerCertificate | undefined;
}

/** Token that the gateway signs for a backend. */
export interface SignedTokenSettings extends SignerSettings {
  readonly claims: JWTPayload;
  /** Milliseconds. */
  readonly lifetime: number;
  readonly target: SentPlace;
}

/** Time by which `iat` is earlier than now, for servers whose clock is behind, in seconds. */
const BACKDATE = 10;
/** Share of its lifetime for which a token is sent again, and the maximum in milliseconds. */
const REUSED_SHARE = 0.1;
const MAX_REUSED = 30 * SECOND;

/** Reads a private key (PEM). Throws StartupError if it does not fit the algorithm; the message does not contain it. */
export function signingKey(pem: string, algorithm: SigningAlgorithm): () => KeyObject {
  try {
    const key = readPrivateKey(pem, algorithm);
    return () => key;
  } catch (error) {
    throw startupError(`a key that signs tokens ${error instanceof Error ? error.message : error}`);
  }
}

/** Watches a file with a private key (PEM). Throws StartupError. */
export function signingKeyFile(path: string, algorithm: SigningAlgorithm): () => KeyObject {
  const followed = new WatchedFile(path, (text) => readPrivateKey(text, algorithm));
  return () => followed.current();
}

/** Signs a token that ends after `lifetime` milliseconds. */
export async function signJwt(
  { key, algorithm, keyId, certificate }: SignerSettings,
  claims: JWTPayload,
  lifetime: number,
): Promise<string> {
  const own = key();
  const now = Math.floor(Date.now() / SECOND);
  return new SignJWT({
    ...claims,
    iat: now - BACKDATE,
    exp: now + Math.floor(lifetime / SECOND),
  })
    .setProtectedHeader({
      ...{ alg: algorithm, typ: "JWT" },
      ...(keyId !== undefined && { kid: keyId }),
      ...certificate?.(own),
    })
    .sign(own);
}

/** Sends a token that the gateway signs. A token is sent with several requests during the first tenth of its lifetime. */
export function signedToken({
  claims,
  lifetime,
  target,
  ...signer
}: SignedTokenSettings): UpstreamCredential {
  let token: Promise<string> | undefined;
  let end = 0;
  return async (call) => {
    const now = performance.now();
    if (token === undefined || now >= end) {
      token = signJwt(signer, claims, lifetime);
      end = now + Math.min(lifetime * REUSED_SHARE, MAX_REUSED);
    }
    putCredential(call, target, await token);
  };
}
