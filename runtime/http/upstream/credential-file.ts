import { readAuthorization } from "../../contents/authorization-value.ts";
import { WatchedFile } from "../../process/watched-file.ts";

/** Returns the value of Authorization from a file, which is read at startup and again when it changes. */
export type Credential = () => string;

/** Follows a file with a token, or with a whole value of Authorization (`Basic ...`). Throws StartupError. */
export function credentialFile(path: string): Credential {
  const followed = new WatchedFile(path, readAuthorization);
  return () => followed.current();
}
