import { hash, timingSafeEqual } from "node:crypto";

/** A hash of an htpasswd file. Costly hashes are checked on a thread (password-thread.ts). */
export interface PasswordHash {
  readonly text: string;
  readonly isCostly: boolean;
}

/** Reads a hash: bcrypt, apr1, SHA-1 or crypt(3); `undefined` for other forms. */
export function passwordHash(text: string): PasswordHash | undefined {
  if (/^\{SHA\}[A-Za-z0-9+/]{27}=$/.test(text)) return { text, isCostly: false };
  const isCostly =
    /^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(text) ||
    /^\$apr1\$[^$]{1,8}\$[./A-Za-z0-9]{22}$/.test(text) ||
    /^[./A-Za-z0-9]{13}$/.test(text);
  return isCostly ? { text, isCostly } : undefined;
}

/** Whether a password matches a SHA-1 hash. */
export function isShaPassword(password: string, { text }: PasswordHash): boolean {
  const found = `{SHA}${hash("sha1", password, "base64")}`;
  return timingSafeEqual(Buffer.from(found), Buffer.from(text));
}
