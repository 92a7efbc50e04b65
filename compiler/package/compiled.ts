import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PACKAGED_DECLARATIONS, packDeclarations } from "../4-emit/check/runtime-modules.ts";
import { editorSchemaText } from "../commands/schema.ts";

const root = path.resolve(import.meta.dirname, "..", "..");
const dist = path.join(root, "dist");
const schema = path.join(root, "gateway.schema.json");

/**
 * What a published package has beyond its sources, because Node.js strips no types under node_modules: every module as
 * JavaScript, in `dist`; what checks of generated code read of the runtime; and the schema that a configuration names. `dist` is a package of the same name, so that
 * `gwc/runtime/...` means the compiled modules there.
 */
export async function writeCompiled(): Promise<void> {
  removeCompiled();
  execFileSync("tsc", ["-p", path.join(import.meta.dirname, "tsconfig.json")], {
    stdio: "inherit",
  });
  const { name, version, type } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const own = { name, version, type, exports: { "./runtime/*": "./runtime/*.js" } };
  writeFileSync(path.join(dist, "package.json"), `${JSON.stringify(own, undefined, 2)}\n`);
  await packDeclarations(path.join(dist, PACKAGED_DECLARATIONS));
  writeFileSync(schema, editorSchemaText());
}

/** Removes what `writeCompiled` wrote. */
export function removeCompiled(): void {
  rmSync(dist, { recursive: true, force: true });
  rmSync(schema, { force: true });
}
