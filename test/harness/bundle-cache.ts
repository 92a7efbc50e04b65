import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { OutputFile } from "../../compiler/4-emit/write.ts";
import { keepNewest, touch } from "./keep-newest.ts";
import { root } from "./root.ts";

/** Compiled configurations, in a folder for each state of the sources. */
const CACHE = path.join(root, "node_modules", ".cache", "gwc-test");

/** States of the sources whose bundles are kept: this one, and those of a few branches that somebody switches between. */
const KEPT_STATES = 3;

/** Configurations that are kept of each: some hold random keys and are never asked for again. */
const KEPT_BUNDLES = 1000;

/** Returns the cached bundle of a configuration; `undefined` if these sources have not compiled it. */
export function cachedFiles(digest: string, key: string): readonly OutputFile[] | undefined {
  const file = path.join(CACHE, digest, key);
  try {
    touch(file);
    return unpack(file);
  } catch {
    return undefined;
  }
}

/** Caches the bundle of a configuration. Test processes run in parallel, so a file appears whole or not at all. */
export function cacheFiles(digest: string, key: string, files: readonly OutputFile[]): void {
  const folder = path.join(CACHE, digest);
  mkdirSync(folder, { recursive: true });
  const unfinished = path.join(folder, `${key}.${process.pid}.new`);
  writeFileSync(unfinished, gzipSync(JSON.stringify(files), { level: 1 }));
  renameSync(unfinished, path.join(folder, key));
}

/** All that these sources have compiled so far, each under its key. */
export function allCachedFiles(digest: string): ReadonlyMap<string, readonly OutputFile[]> {
  const folder = path.join(CACHE, digest);
  const keys = existsSync(folder) ? readdirSync(folder).filter((name) => !name.includes(".")) : [];
  return new Map(keys.map((key) => [key, unpack(path.join(folder, key))]));
}

/** Forgets the states of the sources, and the bundles of this one, that were not used for longest. */
export function pruneCache(digest: string): void {
  const current = path.join(CACHE, digest);
  mkdirSync(current, { recursive: true });
  touch(current);
  keepNewest(CACHE, KEPT_STATES);
  keepNewest(current, KEPT_BUNDLES);
}

function unpack(file: string): readonly OutputFile[] {
  return JSON.parse(gunzipSync(readFileSync(file)).toString());
}
