import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * Seals a session's state into its id: AES-256-GCM, base64url of nonce, ciphertext and tag. `binding` says where the
 * session is valid (route, targets, subject); it is authenticated and not contained, so an id that is shown elsewhere
 * can't be told from a forged one.
 */
export function sealSession(key: Buffer, binding: string, state: string): string {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(binding));
  const sealed = [nonce, cipher.update(state, "utf8"), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString("base64url");
}

/**
 * The state in a session id, or undefined when the id isn't one of this key and binding. An id has one spelling: bits that
 * base64url leaves over in the last character are zero.
 */
export function unsealSession(key: Buffer, binding: string, id: string): string | undefined {
  if (!BASE64URL.test(id)) return undefined;
  const bytes = Buffer.from(id, "base64url");
  if (bytes.length < NONCE_LENGTH + TAG_LENGTH || bytes.toString("base64url") !== id)
    return undefined;
  const tagAt = bytes.length - TAG_LENGTH;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_LENGTH));
  decipher.setAAD(Buffer.from(binding));
  decipher.setAuthTag(bytes.subarray(tagAt));
  try {
    const state = decipher.update(bytes.subarray(NONCE_LENGTH, tagAt));
    return Buffer.concat([state, decipher.final()]).toString("utf8");
  } catch {
    // Another key, another binding, or not ours at all: the caller's response is the same.
    return undefined;
  }
}

/** What tells a session id from every other one: its nonce, 16 characters. */
export function sealNonce(id: string): string {
  return id.slice(0, (NONCE_LENGTH / 3) * 4);
}

const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
