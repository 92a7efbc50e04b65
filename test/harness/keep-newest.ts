import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import path from "node:path";

/** Removes what lies in a folder, but those entries that were used last. */
export function keepNewest(folder: string, count: number): void {
  const entries = readdirSync(folder).map((name) => {
    const file = path.join(folder, name);
    return { file, used: statSync(file).mtimeMs };
  });
  entries.sort((a, b) => b.used - a.used);
  for (const { file } of entries.slice(count)) rmSync(file, { recursive: true, force: true });
}

/** Says that a file or folder is used now. */
export function touch(file: string): void {
  utimesSync(file, new Date(), new Date());
}
