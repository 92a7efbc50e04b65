import { readAuthorization } from "../../contents/authorization-value.ts";
import { WatchedFile } from "../../process/watched-file.ts";

/** The value of Authorization that a file holds: read when the gateway starts, and again when the file has changed. */
export type Credential = () => string;

/** Follows a file with a token, or with a whole value of Authorization (`Basic ...`). Throws StartupError. */
export function credentialFile(path: string): Credential {
  const followed = new WatchedFile(path, readAuthorization);
  return () => followed.current();
}
