import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Folder of gwc's own modules: the repository, or `dist` of a published package, where the modules of the compiler are
 * bundled in a few files in `dist/compiler`.
 */
export const moduleRoot = path.resolve(import.meta.dirname, "..");

/** Whether gwc runs from its sources. */
const isRepository = import.meta.filename.endsWith(".ts");

/** Name of the bundle of the admin page's program in a package. */
export const ADMIN_BUNDLE = "admin-page.js";

/** Folder of the package, from which packages are resolved. */
export const packageRoot = isRepository ? moduleRoot : path.dirname(moduleRoot);

/** TypeScript sources of the runtime modules that generated code imports as `gwc/runtime/...`. */
export const runtimeFolder = path.join(packageRoot, "runtime");

/** The guides, one Markdown file each. */
export const guidesFolder = path.join(packageRoot, ".github", "guides");

/** Document, style sheet and icon of the admin page. */
export const adminAssets = path.join(packageRoot, "compiler", "run", "admin", "assets");

/** Entry of the program of the admin page, which runs in browsers. */
export const adminPageEntry = path.join(
  packageRoot,
  "compiler",
  "run",
  "admin",
  "page",
  "main.tsx",
);

/** The bundle of that program in a package; `undefined` in the repository, where it is made when it is needed. */
export const adminPageBundle = isRepository
  ? undefined
  : path.join(moduleRoot, "compiler", ADMIN_BUNDLE);

/** Script and style sheet of `gwc review`. */
export const reviewAssets = path.join(packageRoot, "compiler", "inspect", "review", "assets");

/**
 * Returns the URL of the entry module of a thread by its path in the compiler's sources
 * (`controller/model/compile-worker`).
 */
export function threadModule(source: string): URL {
  const file = isRepository ? `${source}.ts` : `${path.basename(source)}.js`;
  return pathToFileURL(path.join(import.meta.dirname, file));
}

/** Returns the version of gwc from its package. */
export function version(): string {
  const file = path.join(moduleRoot, "package.json");
  const data: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof data === "object" && data !== null && "version" in data
    ? String(data.version)
    : "unknown";
}

let knownDigest: string | undefined;

/**
 * Returns the digest of this gwc's runtime in hex: generated code only runs with the runtime that it was generated for.
 */
export function runtimeDigest(): string {
  if (knownDigest !== undefined) return knownDigest;
  const hash = createHash("sha256");
  for (const file of globSync("**/*.ts", { cwd: runtimeFolder }).sort())
    hash.update(`${file}\0${readFileSync(path.join(runtimeFolder, file), "utf8")}\0`);
  knownDigest = hash.digest("hex").slice(0, 12);
  return knownDigest;
}
