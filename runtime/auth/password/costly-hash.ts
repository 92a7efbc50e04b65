import { timingSafeEqual } from "node:crypto";
import apacheMd5 from "apache-md5";
import { compareSync } from "bcryptjs";
import unixCrypt from "unix-crypt-td-js";

/** bcrypt reads this many bytes: longer passwords would share their beginning (and are refused). */
const BCRYPT_LENGTH = 72;

/** Whether a password is the one of a bcrypt, apr1 or crypt hash. Blocks: 2 to 5 ms for the last two, bcrypt up to seconds. */
export function isPasswordOf(password: string, expected: string): boolean {
  if (expected.startsWith("$2")) {
    return Buffer.byteLength(password) <= BCRYPT_LENGTH && compareSync(password, expected);
  }
  const found = expected.startsWith("$apr1$")
    ? apacheMd5(password, expected)
    : unixCrypt(password, expected.slice(0, 2));
  const [a, b] = [Buffer.from(found), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
