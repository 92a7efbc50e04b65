import { statSync } from "node:fs";

/**
 * Changes with the content of a file, and when another file takes its place (the symlinks of a mounted Secret). Throws
 * when there is none.
 */
export function fileVersion(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}
