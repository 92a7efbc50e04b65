import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "./root.ts";

/** The sources of a bundle besides the configuration. */
const SOURCES = ["{compiler,templates,runtime}/**/*.{ts,mjs,js,css,json}", "package-lock.json"];

/** A digest of everything that decides what a configuration becomes, and of more files. */
export function sourceDigest(more: readonly string[] = []): string {
  const digest = createHash("sha256");
  for (const name of globSync([...SOURCES, ...more], { cwd: root }).sort()) {
    digest
      .update(`${name}\0`)
      .update(readFileSync(path.join(root, name)))
      .update("\0");
  }
  return digest.digest("hex").slice(0, 32);
}
