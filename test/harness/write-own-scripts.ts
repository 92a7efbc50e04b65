import { existsSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { builtinHttp } from "../../compiler/4-emit/bundle.ts";
import { REQUIRE } from "../../compiler/package/compiled.ts";
import { keepNewest, touch } from "./keep-newest.ts";
import { SCRIPT_NAMES, SCRIPTS } from "./own-script.ts";
import { root } from "./root.ts";
import { sourceDigest } from "./source-digest.ts";

/** States of the sources whose scripts are kept: this one, and those of a few branches that somebody switches between. */
const KEPT = 12;

/** Writes the scripts that tests start as single files, unless they are there; the folder that they are in. */
export async function writeOwnScripts(): Promise<string> {
  const folder = path.join(SCRIPTS, sourceDigest(["test/{conformance,harness,http,mcp}/**/*.ts"]));
  if (!existsSync(folder)) {
    mkdirSync(SCRIPTS, { recursive: true });
    // Runs may overlap, so it appears whole.
    const unfinished = mkdtempSync(path.join(SCRIPTS, "new-"));
    await build({
      entryPoints: SCRIPT_NAMES.map((name) => path.join(root, "test", name)),
      outbase: path.join(root, "test"),
      outdir: unfinished,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node24",
      banner: { js: REQUIRE },
      plugins: [builtinHttp],
      logLevel: "warning",
      absWorkingDir: root,
    });
    if (!existsSync(folder)) renameSync(unfinished, folder);
  }
  touch(folder);
  keepNewest(SCRIPTS, KEPT);
  return folder;
}
