import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import type { Text } from "./texts.ts";

/**
 * Reports a base URL whose path ends like the API paths begin, for the first such path. `origin` is the place of the
 * URL.
 */
export function reportRepeatedPath(
  url: Text,
  paths: readonly string[],
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (typeof url !== "string") return;
  const base = new URL(url).pathname.replace(/\/$/, "");
  for (const path of paths) {
    const repeated = repeatedPart(base, path);
    if (repeated === undefined) continue;
    const params = { base, path, repeated, field: String(origin.path.at(-1)) };
    diagnostics.report("repeated-base-path", origin, params);
    return;
  }
}

/**
 * Returns the longest end of one path, in whole segments, with which the other begins; `undefined` if there is none.
 */
function repeatedPart(before: string, path: string): string | undefined {
  const ends = [...`${path}/`.matchAll(/\//g)].map(({ index }) => index).filter((end) => end > 0);
  const parts = ends.map((end) => path.slice(0, end));
  return parts.findLast((part) => before.endsWith(part));
}
