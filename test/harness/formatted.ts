import { execFileSync } from "node:child_process";
import path from "node:path";
import { root } from "./root.ts";

/** TypeScript as `biome format` leaves it, with the settings of this repository. */
export function formatted(text: string): string {
  // `out` is excluded there: the text goes by the name of a file that is not
  const args = ["format", "--stdin-file-path=templates/generated.ts"];
  const biome = path.join(root, "node_modules/.bin/biome");
  return execFileSync(biome, args, { cwd: root, input: text, encoding: "utf8", maxBuffer: 1e9 });
}
