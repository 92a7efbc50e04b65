import { createHash } from "node:crypto";
import path from "node:path";

/** Folder next to a configuration with the OpenAPI documents that `gwc lock` has fetched. */
export const DOCUMENTS = "gwc.openapi";

/** Returns the path of the copy of a document, relative to its configuration: readable, and unique by a part of the digest. */
export function documentCopy(url: string): string {
  const { host, pathname } = new URL(url);
  const { dir, name, ext } = path.posix.parse(pathname);
  const words = `${host}${dir}/${name}`.replaceAll(/[^A-Za-z0-9.]+/g, "-").slice(0, 100);
  const digest = createHash("sha256").update(url).digest("hex").slice(0, 8);
  const ending = /^\.(?:json|ya?ml)$/.test(ext) ? ext : ".json";
  return `${DOCUMENTS}/${words}-${digest}${ending}`;
}
