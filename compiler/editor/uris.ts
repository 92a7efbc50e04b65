import { fileURLToPath } from "node:url";

/**
 * Returns the path of a document. `undefined` if it is not a file of this machine: it has another scheme, the name of a
 * server, or characters that no path has.
 */
export function fileOfUri(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.protocol !== "file:") return undefined;
  try {
    const file = fileURLToPath(url);
    return file.includes("\0") ? undefined : file;
  } catch {
    return undefined;
  }
}
