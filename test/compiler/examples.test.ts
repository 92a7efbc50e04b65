import { existsSync, globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Emitted } from "../../compiler/4-emit/emit.ts";
import { cacheFiles } from "../harness/bundle-cache.ts";
import { compileFile } from "../harness/compile-file.ts";
import { root } from "../harness/root.ts";
import { examples, reviewedFiles } from "./example-files.ts";

describe.each(examples)("example %s", (name) => {
  let compiled: Emitted;

  beforeAll(async () => {
    const file = path.join(root, "examples", name, "gateway.yaml");
    compiled = await compileFile(file, { name });
    // The last test of the suite checks the types of all that is there.
    cacheFiles(inject("sourceDigest"), `example-${name}`, compiled.modules);
  });

  it("compiles to what out/ holds", () => {
    const files = reviewedFiles(compiled);
    const folder = path.join(root, "out", name);
    for (const { path: generated, text } of files) {
      const committed = path.join(folder, generated);
      const before = existsSync(committed) ? readFileSync(committed, "utf8") : "";
      expect(before, `run npm run examples, then look at the diff of ${generated}`).toBe(text);
    }
    const known = new Set(compiled.files.map((each) => each.path));
    expect(globSync("**/*.*", { cwd: folder }).filter((each) => !known.has(each))).toEqual([]);
  });

  it("bundles exactly the runtime modules that modules.json names, and nothing outside node:", () => {
    const { files, graph } = compiled;
    const bundle = files.find((each) => each.path === "gateway.mjs")?.text ?? "";
    const headings = [...bundle.matchAll(/^\/\/ (runtime\/.*)\.ts$/gm)].map(([, module]) => module);
    const inside = [...new Set(headings)].sort();
    expect(inside).toEqual(Object.keys(graph.runtime));
    const imported = [...bundle.matchAll(/^(?:import|export) .*from "([^"]+)";$/gm)].map(
      ([, module]) => module,
    );
    expect(imported.filter((module) => !isBuiltin(module ?? ""))).toEqual([]);
  });
});
