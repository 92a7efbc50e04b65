import path from "node:path";
import { root } from "./root.ts";

/** Packages of gwc, in a folder for each state of the sources: below node_modules, as where people install it. */
export const PACKAGES: string = path.join(root, "node_modules", ".cache", "gwc-package");

/** Folder of the package of these sources. */
export function ownPackage(digest: string): string {
  return path.join(PACKAGES, digest);
}
