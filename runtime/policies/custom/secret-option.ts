import { visibleWord } from "../../contents/visible-word.ts";
import { WatchedFile } from "../../process/watched-file.ts";

/** Returns the value of an option. */
export type SecretOption = () => string;

/** Follows a file with the value of an option. Throws StartupError. */
export function secretOption(path: string): SecretOption {
  const followed = new WatchedFile(path, visibleWord);
  return () => followed.current();
}
