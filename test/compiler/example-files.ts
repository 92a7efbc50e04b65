import { readdirSync } from "node:fs";
import path from "node:path";
import type { Emitted } from "../../compiler/4-emit/emit.ts";
import type { OutputFile } from "../../compiler/4-emit/write.ts";
import { version } from "../../compiler/installation.ts";
import { root } from "../harness/root.ts";

/** The folders of examples/. */
export const examples: readonly string[] = readdirSync(path.join(root, "examples"), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Files of a build that change with every edit of the runtime. */
const UNREVIEWED: readonly string[] = ["gateway.mjs", "kubernetes/config-map.yaml", "modules.json"];

/**
 * The files of an example that out/ holds. The digest and the size of its bundle are zeros there, so that an edit of the
 * runtime changes no file of out/.
 */
export function reviewedFiles({ files, manifest }: Emitted): readonly OutputFile[] {
  const { sha256, bytes } = manifest.bundle;
  return files
    .filter((file) => !UNREVIEWED.includes(file.path))
    .map((file) => {
      const text = file.text.replaceAll(sha256, "0".repeat(sha256.length));
      if (file.path !== "manifest.json" && file.path !== "gateway.cdx.json")
        return { ...file, text };
      const released = text
        .replaceAll('"test"', `"${version()}"`)
        .replaceAll("gwc@test", `gwc@${version()}`)
        .replace(`"bytes": ${bytes},`, '"bytes": 0,');
      return { ...file, text: released };
    });
}
