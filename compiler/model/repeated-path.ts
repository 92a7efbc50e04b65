import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import type { Text } from "./texts.ts";

/**
 * The path of a server's URL stands before those of its API: what ends the one and begins the other is one too many, and is
 * reported, of the first path that has it. `origin`: where the URL stands.
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

/** The most that a path has at its end and another one at its begin, in whole segments; undefined: nothing. */
function repeatedPart(before: string, path: string): string | undefined {
  const ends = [...`${path}/`.matchAll(/\//g)].map(({ index }) => index).filter((end) => end > 0);
  const parts = ends.map((end) => path.slice(0, end));
  return parts.findLast((part) => before.endsWith(part));
}
