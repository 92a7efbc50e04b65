import { readFileSync, statSync } from "node:fs";
import { lateError } from "../gateway/startup-error.ts";

/** How often the file is looked at, at most; milliseconds. */
const lookInterval = 1000;

/** The value of Authorization that a file holds: read when the gateway starts, and again when the file has changed. */
export type Credential = () => string;

/**
 * Follows a file with a token, or with a whole value of Authorization (`Basic ...`). Throws StartupError when it can't
 * be used. Later a change that can't be used, or not yet, leaves what was there.
 */
export function credentialFile(path: string): Credential {
  let value: string;
  let identity: string;
  let nextLook = 0;
  try {
    identity = identityOf(path);
    value = authorizationOf(readFileSync(path, "utf8"));
  } catch (error) {
    throw lateError(`${path} can't be used: ${reason(error)}`);
  }
  return () => {
    const now = Date.now();
    if (now < nextLook) return value;
    nextLook = now + lookInterval;
    try {
      const found = identityOf(path);
      if (found === identity) return value;
      value = authorizationOf(readFileSync(path, "utf8"));
      identity = found;
    } catch {
      // The next request after the interval looks again.
    }
    return value;
  };
}

/** RFC 9110 11.6.2: a scheme, a space, the credentials. What has no scheme is a token (RFC 6750 2.1). */
function authorizationOf(text: string): string {
  const value = text.trim();
  if (!/^[\x21-\x7e\x80-\xff]+( +[\x21-\x7e\x80-\xff]+)*$/.test(value))
    throw new Error("it holds no value of Authorization");
  return value.includes(" ") ? value : `Bearer ${value}`;
}

/** Changes with the content, and when another file takes the place (a symlink of a mounted Secret). */
function identityOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "no such file" : error.message;
}
