import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns a string that changes with a file's content, and when another file replaces it (the symlinks of a mounted Secret).
 * Throws if the file does not exist.
 */
export function fileVersion(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

/** Returns the same for a folder with the entries of a mounted Secret. Throws if the folder does not exist. */
export function folderVersion(path: string): string {
  const data = join(path, "..data");
  // A volume of a pod is replaced as a whole, by another target of this link.
  if (statSync(data, { throwIfNoEntry: false }) !== undefined) return fileVersion(data);
  const versions = readdirSync(path).map((name) => `${name} ${fileVersion(join(path, name))}`);
  return [fileVersion(path), ...versions].join(", ");
}
