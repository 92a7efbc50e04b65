import { readFileSync } from "node:fs";
import path from "node:path";
import { adminAssets } from "../../installation.ts";

/** Style sheet of the admin pages. */
export const STYLE = asset("page.css");

/** Script of the pages that refresh themselves. */
export const REFRESH_SCRIPT = asset("refresh.js");

/** Script of the playground. */
export const PLAYGROUND_SCRIPT = asset("playground.js");

function asset(name: string): string {
  return readFileSync(path.join(adminAssets, name), "utf8");
}
