import { statSync } from "node:fs";

/**
 * Returns a string that changes with a file's content, and when another file replaces it (the symlinks of a mounted Secret).
 * Throws if the file does not exist.
 */
export function fileVersion(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}
