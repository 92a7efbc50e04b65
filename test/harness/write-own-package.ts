import { existsSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import path from "node:path";
import { writePackage } from "../../compiler/package/compiled.ts";
import { keepNewest, touch } from "./keep-newest.ts";
import { ownPackage, PACKAGES } from "./own-package.ts";

/** Packages that are kept: of this state, and of a few branches that somebody switches between. */
const KEPT = 12;

/** Writes the package of these sources, unless it exists. Runs may overlap, so it appears whole. */
export async function writeOwnPackage(digest: string): Promise<void> {
  const folder = ownPackage(digest);
  if (!existsSync(folder)) {
    mkdirSync(PACKAGES, { recursive: true });
    const unfinished = mkdtempSync(path.join(PACKAGES, "new-"));
    await writePackage(unfinished);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  }
  touch(folder);
  keepNewest(PACKAGES, KEPT);
}
