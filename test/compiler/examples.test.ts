import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { plainRuntime } from "../../compiler/4-emit/check/runtime-modules.ts";
import { type ModuleText, typeFindings } from "../../compiler/4-emit/check/type-checker.ts";
import type { Emitted } from "../../compiler/4-emit/emit.ts";
import { version } from "../../compiler/installation.ts";
import { compileFile } from "../harness/compile-file.ts";
import { root } from "../harness/root.ts";

const examples = readdirSync(path.join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** The generated code of all of them, each in a folder of its own. */
const modules: ModuleText[] = [];

describe.each(examples)("example %s", (name) => {
  let compiled: Emitted;

  beforeAll(async () => {
    const file = path.join(root, "examples", name, "gateway.yaml");
    compiled = await compileFile(file, { name });
    modules.push(...compiled.modules.map((each) => ({ ...each, path: `${name}/${each.path}` })));
  });

  it("compiles to what out/ holds", () => {
    const { files } = compiled;
    const folder = path.join(root, "out", name);
    for (const { path: generated, text } of files) {
      if (generated === "gateway.mjs" || generated === "kubernetes/config-map.yaml") continue;
      const committed = path.join(folder, generated);
      const before = existsSync(committed) ? readFileSync(committed, "utf8") : "";
      const expected =
        generated === "manifest.json" || generated === "gateway.cdx.json"
          ? text.replaceAll('"test"', `"${version()}"`).replaceAll("gwc@test", `gwc@${version()}`)
          : text;
      expect(before, `run npm run examples, then look at the diff of ${generated}`).toBe(expected);
    }
    const known = new Set(files.map((each) => each.path));
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

// The runtime is the same for all: one check of them reads it once.
it("the generated code of all examples type-checks", async () => {
  expect(new Set(modules.map((module) => module.path.split("/")[0]))).toEqual(new Set(examples));
  expect(await typeFindings(modules, modules, plainRuntime())).toEqual([]);
});
