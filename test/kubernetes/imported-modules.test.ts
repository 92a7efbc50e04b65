import { spawnSync } from "node:child_process";
import path from "node:path";
import { expect, it } from "vitest";
import { root } from "../harness/root.ts";
import { Workspace } from "../harness/workspace.ts";

/** Each evaluated module logs that; a generation consists of the named modules, by the digests before them. */
const PROGRAM = `
import { copyFileSync, mkdirSync } from "node:fs";
import { AgentStore } from ${JSON.stringify(path.join(root, "compiler/agent/agent-store.ts"))};
import { ImportedModules } from ${JSON.stringify(path.join(root, "compiler/agent/imported-modules.ts"))};
import { ModuleOrigins } from ${JSON.stringify(path.join(root, "compiler/agent/module-origins.ts"))};
import { createHash } from "node:crypto";
const store = new AgentStore(process.argv[1]);
const imported = new ImportedModules();
const origins = new ModuleOrigins();
const digestOf = (text) => createHash("sha256").update(text).digest("hex");
async function load(texts, variables = {}) {
  Object.assign(process.env, variables);
  const modules = Object.entries(texts).map(([path, written]) => {
    const text = written.replaceAll("; ", ";\\n");
    return { path, text, sha256: digestOf(text) };
  });
  for (const { sha256, text } of modules) store.putModule(sha256, text);
  const stored = store.modulesOf({ modules });
  await imported.load(origins.of(stored, variables)).catch(() => console.log("failed"));
  console.log("--");
}
const says = (name) => \`console.log("\${name}"); export const own = 1;\`;
const reads = 'if (process.env["NAME"] === undefined) throw new Error(); console.log(process.env["NAME"]); export const own = 2;';
const main = (text) => \`import { own as a } from "./routes/a.ts"; import { own as b } from "./routes/b.ts"; console.log("main"); export const gateway = "\${text}" + a + b;\`;
await load({ "main.ts": main("1"), "routes/a.ts": says("a"), "routes/b.ts": says("b") });
await load({ "main.ts": main("1"), "routes/a.ts": says("a"), "routes/b.ts": says("b changed") });
await load({ "main.ts": main("2"), "routes/a.ts": says("a"), "routes/b.ts": reads });
await load({ "main.ts": main("2"), "routes/a.ts": says("a"), "routes/b.ts": reads }, { NAME: "first" });
await load({ "main.ts": main("2"), "routes/a.ts": says("a"), "routes/b.ts": reads }, { NAME: "second" });
const part = (name) => \`import { own as route } from "../routes/\${name}.ts"; console.log("part " + route); export const own = 1;\`;
const whole = 'import { own as a } from "./tables/a.ts"; import { own as b } from "./tables/b.ts"; console.log("whole"); export const gateway = a + b;';
const parts = { "main.ts": whole, "tables/a.ts": part("a"), "tables/b.ts": part("b"), "routes/a.ts": says("a") };
await load({ ...parts, "routes/b.ts": says("b") });
await load({ ...parts, "routes/b.ts": says("b anew") });
await load({ ...parts, "routes/b.ts": says("b") });
`;

/** Generations of a module that holds a megabyte each, and whether they are still there. */
const MANY = `
import { AgentStore } from ${JSON.stringify(path.join(root, "compiler/agent/agent-store.ts"))};
import { ImportedModules } from ${JSON.stringify(path.join(root, "compiler/agent/imported-modules.ts"))};
import { ModuleOrigins } from ${JSON.stringify(path.join(root, "compiler/agent/module-origins.ts"))};
import { createHash } from "node:crypto";
const store = new AgentStore(process.argv[1]);
const imported = new ImportedModules();
const origins = new ModuleOrigins();
const seen = [];
for (let generation = 0; generation < 20; generation++) {
  const text = "const many = new Array(100000).fill(" + generation + ");\\nexport const gateway = { many };\\n";
  const modules = [{ path: "main.ts", text, sha256: createHash("sha256").update(text).digest("hex") }];
  for (const { sha256, text } of modules) store.putModule(sha256, text);
  seen.push(new WeakRef(await imported.load(origins.of(store.modulesOf({ modules }), {}))));
}
await new Promise(setImmediate);
globalThis.gc();
console.log(seen.filter((each) => each.deref() !== undefined).length);
`;

it("a data plane frees the generations that others have replaced", () => {
  const { folder } = new Workspace({});
  const argv = ["--expose-gc", "--input-type=module", "-e", MANY, folder];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(Number(stdout)).toBeLessThanOrEqual(2);
});

it("a data plane evaluates the modules that changed, those that failed, and those whose variables changed", () => {
  const { folder } = new Workspace({});
  const argv = ["--input-type=module", "-e", PROGRAM, folder];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8" });
  const generations = stdout.split("--\n").map((each) => each.trim().split("\n").toSorted());
  expect(stderr).toBe("");
  expect(generations.slice(0, 8)).toEqual([
    ["a", "b", "main"],
    ["b changed", "main"],
    ["failed"],
    ["first", "main"],
    ["main", "second"],
    // Two generations are held: what came before them is free, and evaluated anew.
    ["b", "part 1", "part 1", "whole"],
    ["b anew", "part 1", "whole"],
    [""],
  ]);
});
