import { WatchedFile } from "../../process/watched-file.ts";

/** The value of Authorization that a file holds: read when the gateway starts, and again when the file has changed. */
export type Credential = () => string;

/** Follows a file with a token, or with a whole value of Authorization (`Basic ...`). Throws StartupError. */
export function credentialFile(path: string): Credential {
  const followed = new WatchedFile(path, authorizationOf);
  return () => followed.current();
}

/** RFC 9110 11.6.2: a scheme, a space, the credentials. What has no scheme is a token (RFC 6750 2.1). */
function authorizationOf(text: string): string {
  const value = text.trim();
  if (!/^[\x21-\x7e\x80-\xff]+( +[\x21-\x7e\x80-\xff]+)*$/.test(value))
    throw new Error("it holds no value of Authorization");
  return value.includes(" ") ? value : `Bearer ${value}`;
}
