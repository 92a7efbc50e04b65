import { readFileSync } from "node:fs";
import path from "node:path";

/** The version of this gwc, as its package says. */
export function version(): string {
  const file = path.resolve(import.meta.dirname, "..", "package.json");
  const data: unknown = JSON.parse(readFileSync(file, "utf8"));
  return typeof data === "object" && data !== null && "version" in data
    ? String(data.version)
    : "unknown";
}
