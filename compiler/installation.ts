import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The folder that gwc's own modules run from: the repository, or `dist` of a published package. There the modules of the
 * compiler are gathered in few files, all of them beside each other in `dist/compiler`, as this one is here.
 */
export const moduleRoot = path.resolve(import.meta.dirname, "..");

/** Whether gwc runs from its sources. */
export const isRepository = import.meta.filename.endsWith(".ts");

/** The package's folder: packages are found from there. */
export const packageRoot = isRepository ? moduleRoot : path.dirname(moduleRoot);

/** The TypeScript of the runtime modules that generated code imports as `gwc/runtime/...`. */
export const runtimeFolder = path.join(packageRoot, "runtime");

/** The guides as people edit them and as the repository shows them: one Markdown file each. */
export const guidesFolder = path.join(packageRoot, ".github", "guides");

/** The module that a thread begins with, by its place in the compiler's sources (`controller/model/compile-worker`). */
export function threadModule(source: string): URL {
  const file = isRepository ? `${source}.ts` : `${path.basename(source)}.js`;
  return pathToFileURL(path.join(import.meta.dirname, file));
}

/** The version of this gwc, as its package says. */
export function version(): string {
  const file = path.join(moduleRoot, "package.json");
  const data: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof data === "object" && data !== null && "version" in data
    ? String(data.version)
    : "unknown";
}

let knownDigest: string | undefined;

/** The digest of the runtime of this gwc, in hexadecimal digits: code that is written for it runs with no other one. */
export function runtimeDigest(): string {
  if (knownDigest !== undefined) return knownDigest;
  const hash = createHash("sha256");
  for (const file of globSync("**/*.ts", { cwd: runtimeFolder }).sort())
    hash.update(`${file}\0${readFileSync(path.join(runtimeFolder, file), "utf8")}\0`);
  knownDigest = hash.digest("hex").slice(0, 12);
  return knownDigest;
}
