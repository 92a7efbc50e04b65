import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** Keys of AES-256-GCM (32 bytes each). The first one seals, and all of them unseal, so that keys can be rotated. */
export type SessionKeys = readonly [Buffer, ...Buffer[]];

/** Derives keys for one purpose (HKDF of RFC 5869), in the same order. */
export function derivedKeys([first, ...others]: SessionKeys, purpose: string): SessionKeys {
  const derived = (key: Buffer) => Buffer.from(hkdfSync("sha256", key, "", purpose, 32));
  return [derived(first), ...others.map(derived)];
}

/**
 * Seals a session's state into its id: AES-256-GCM, base64url of nonce, ciphertext and tag. `binding` says where the session is
 * valid (route, targets, subject). It is authenticated but not contained, so an id that is used elsewhere looks like a forged
 * one.
 */
export function sealSession([key]: SessionKeys, binding: string, state: string): string {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(binding));
  const sealed = [nonce, cipher.update(state, "utf8"), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString("base64url");
}

/**
 * Returns the state in a session id; `undefined` if the id was not made with one of these keys and this binding. Each id has one encoding:
 * the unused bits of the last base64url character must be zero.
 */
export function unsealSession(keys: SessionKeys, binding: string, id: string): string | undefined {
  if (!BASE64URL.test(id)) return undefined;
  const bytes = Buffer.from(id, "base64url");
  if (bytes.length < NONCE_LENGTH + TAG_LENGTH || bytes.toString("base64url") !== id)
    return undefined;
  for (const key of keys) {
    const state = opened(key, binding, bytes);
    if (state !== undefined) return state;
  }
  return undefined;
}

function opened(key: Buffer, binding: string, bytes: Buffer): string | undefined {
  const tagAt = bytes.length - TAG_LENGTH;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_LENGTH));
  decipher.setAAD(Buffer.from(binding));
  decipher.setAuthTag(bytes.subarray(tagAt));
  try {
    const state = decipher.update(bytes.subarray(NONCE_LENGTH, tagAt));
    return Buffer.concat([state, decipher.final()]).toString("utf8");
  } catch {
    // Another key, another binding, or a forged id: the response must not tell which.
    return undefined;
  }
}

/** Returns what distinguishes a session id from every other one: its nonce, 16 characters. */
export function sealNonce(id: string): string {
  return id.slice(0, (NONCE_LENGTH / 3) * 4);
}

const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
