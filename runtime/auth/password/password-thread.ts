import { timingSafeEqual } from "node:crypto";
import { parentPort } from "node:worker_threads";
import apacheMd5 from "apache-md5";
import { compareSync } from "bcryptjs";
import unixCrypt from "unix-crypt-td-js";
import type { PasswordJob } from "./password-pool.ts";

// Main module of a separate thread: hashing takes milliseconds to seconds, and would block requests.

parentPort?.on("message", ({ password, expected }: PasswordJob) => {
  parentPort?.postMessage(isPasswordOf(password, expected));
});

/** Maximum length that bcrypt reads, in bytes. Longer passwords are refused, because only their start would be compared. */
const BCRYPT_LENGTH = 72;

/** Whether a password matches a bcrypt, apr1 or crypt hash. Blocks: 2 to 5 ms for the last two, bcrypt up to seconds. */
function isPasswordOf(password: string, expected: string): boolean {
  if (expected.startsWith("$2")) {
    return Buffer.byteLength(password) <= BCRYPT_LENGTH && compareSync(password, expected);
  }
  const found = expected.startsWith("$apr1$")
    ? apacheMd5(password, expected)
    : unixCrypt(password, expected.slice(0, 2));
  const [a, b] = [Buffer.from(found), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
