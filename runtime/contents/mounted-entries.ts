import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * File with entries that nothing reads by name, as JSON with values in base64: thousands of files would take a data plane
 * a second to write. No entry has this name.
 */
export const PACKED_ENTRIES = "..entries";

/** Reads all entries of the folder of a mounted Secret, by their names. Throws if the folder does not exist. */
export function readMountedEntries(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => !name.startsWith(".."));
  const single = names.map((name) => [name, readFileSync(join(folder, name), "utf8")] as const);
  const packed = join(folder, PACKED_ENTRIES);
  return new Map([
    ...single,
    ...(existsSync(packed) ? unpacked(readFileSync(packed, "utf8")) : []),
  ]);
}

function unpacked(text: string): readonly (readonly [string, string])[] {
  const entries: Readonly<Record<string, string>> = JSON.parse(text);
  return Object.entries(entries).map(([name, value]) => [
    name,
    Buffer.from(value, "base64").toString("utf8"),
  ]);
}
