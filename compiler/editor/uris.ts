import { fileURLToPath } from "node:url";

/** Returns the path of a document; `undefined` if it is not a file. */
export function fileOfUri(uri: string): string | undefined {
  return uri.startsWith("file:") ? fileURLToPath(uri) : undefined;
}
