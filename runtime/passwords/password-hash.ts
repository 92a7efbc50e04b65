import { hash, timingSafeEqual } from "node:crypto";
import apacheMd5 from "apache-md5";
import { compare } from "bcryptjs";
import unixCrypt from "unix-crypt-td-js";

/** Tells whether a password is the one that was hashed. bcrypt needs time, and gives others turns meanwhile. */
export type PasswordCheck = (password: string) => boolean | Promise<boolean>;

/** bcrypt reads this many bytes: longer passwords would share their beginning (and are refused). */
const bcryptLength = 72;

/** The check for a hash of an htpasswd file; undefined for a form that is none of the four. */
export function passwordCheck(expected: string): PasswordCheck | undefined {
  if (/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(expected)) {
    return (password) =>
      Buffer.byteLength(password) <= bcryptLength ? compare(password, expected) : false;
  }
  if (/^\$apr1\$[^$]{1,8}\$[./A-Za-z0-9]{22}$/.test(expected)) {
    return (password) => isSame(apacheMd5(password, expected), expected);
  }
  if (/^\{SHA\}[A-Za-z0-9+/]{27}=$/.test(expected)) {
    return (password) => isSame(`{SHA}${hash("sha1", password, "base64")}`, expected);
  }
  if (/^[./A-Za-z0-9]{13}$/.test(expected)) {
    return (password) => isSame(unixCrypt(password, expected.slice(0, 2)), expected);
  }
  return undefined;
}

function isSame(found: string, expected: string): boolean {
  const [a, b] = [Buffer.from(found), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
