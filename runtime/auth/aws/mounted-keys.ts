import { visibleWord } from "../../contents/visible-word.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import type { AwsKeySource } from "./aws-keys.ts";

/** Paths of files with keys. */
export interface MountedKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Reads keys from a mounted Secret, at startup and when the files change. Throws StartupError. */
export function mountedKeys(files: MountedKeys): AwsKeySource {
  const accessKeyId = new WatchedFile(files.accessKeyId, visibleWord);
  const secretAccessKey = new WatchedFile(files.secretAccessKey, visibleWord);
  const sessionToken =
    files.sessionToken === undefined ? undefined : new WatchedFile(files.sessionToken, visibleWord);
  return () => ({
    accessKeyId: accessKeyId.current(),
    secretAccessKey: secretAccessKey.current(),
    sessionToken: sessionToken?.current(),
  });
}
