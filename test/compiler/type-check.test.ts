import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cacheFolder } from "../../compiler/4-emit/check/cache-folder.ts";
import { CachedEntries } from "../../compiler/4-emit/check/cached-entries.ts";
import { checkModules } from "../../compiler/4-emit/check/check.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { compileFile } from "../harness/compile-file.ts";
import { gwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const example = path.join(root, "examples/basic/gateway.yaml");
let modules: readonly PrintedModule[] = [];
let folder = "";

beforeAll(async () => {
  modules = (await compileFile(example, { name: "basic" })).modules;
  folder = temporaryFolder();
  expect(await checkModules(modules, folder)).toEqual([]);
});

/** The modules of the example, with another text in one of them. */
function changed(module: string, from: string | RegExp, to: string): readonly PrintedModule[] {
  const texts = modules.map((each) =>
    each.path === module ? { ...each, text: each.text.replace(from, to) } : each,
  );
  expect(texts).not.toEqual(modules);
  return texts;
}

function remembered(): string {
  return readFileSync(path.join(folder, "checked-modules.json"), "utf8");
}

describe("what was checked is remembered", () => {
  it("modules found right are not checked again", async () => {
    const written = () => statSync(path.join(folder, "checked-modules.json")).ino;
    const before = written();
    // A check that finds nothing wrong puts another file in its place.
    expect(await checkModules(modules, folder)).toEqual([]);
    expect(written()).toBe(before);
  });

  it("a mistake is found as without a memory, each time", async () => {
    const mistakes = [
      changed("routes/root.ts", "): Handled {", "): string {"),
      changed("routes/root.ts", "cors: CorsResponse", "cors: number"),
      changed("routes/root.ts", "export function", "const unused = 1;\nexport function"),
      changed(
        "routes/root.ts",
        'from "gwc/runtime/http/exchange"',
        'from "gwc/runtime/http/absent"',
      ),
      changed("main.ts", "drain: { min: 0,", "drain: {"),
    ];
    // Each in a folder of its own: one check of all reads the runtime once.
    const copies = mistakes.flatMap((each, index) =>
      each.map((module) => ({ ...module, path: `${index}/${module.path}` })),
    );
    const found = await checkModules(copies, undefined);
    const wrong = new Set(found.map(({ module }) => module.split("/")[0]));
    expect([...wrong].sort()).toEqual(mistakes.map((_, index) => String(index)));
    expect(await checkModules(copies, folder)).toEqual(found);
    expect(await checkModules(copies, folder)).toEqual(found);
  });

  it("a module is checked again when one that it imports has changed", async () => {
    const wrong = changed("routes/root.ts", /\broot\b(?=[()])/g, "other");
    const found = await checkModules(wrong, folder);
    expect(found.map(({ module }) => module)).toEqual(["main.ts"]);
  });

  it("what others wrote into the memory is no verdict", async () => {
    const names = ["checked-modules.json", "declarations.json"];
    for (const file of names.map((name) => path.join(folder, name))) {
      const good = readFileSync(file, "utf8");
      const [, key = ""] = /\[\["(.+?)"/.exec(good) ?? [];
      const known = () =>
        ["other", key].filter((each) => new CachedEntries(file, 9).get(each) !== undefined);
      expect(known()).toEqual([key]);
      const more = good.replace("[[", '[["other",""],[');
      for (const text of ["", "rubbish", good.slice(0, -9), more]) {
        writeFileSync(file, text);
        expect(known()).toEqual([]);
      }
    }
    expect(await checkModules(modules, folder)).toEqual([]);
    expect(remembered()).not.toContain('"other"');
  });

  it("a folder that can't be written changes nothing", async () => {
    const file = path.join(temporaryFolder({ file: "" }), "file");
    expect(await checkModules(modules, file)).toEqual([]);
  });

  it("the memory is bounded: what was not asked for goes first", () => {
    const file = path.join(temporaryFolder(), "cached.json");
    const entries = new CachedEntries(file, 2);
    for (const key of ["a", "b", "c"]) entries.set(key, key);
    entries.get("a");
    entries.save();
    const later = new CachedEntries(file, 2);
    expect(["a", "b", "c"].map((key) => later.get(key))).toEqual(["a", undefined, "c"]);
  });

  it("gwc build keeps it where the system keeps caches, and builds without it as before", async () => {
    const cache = temporaryFolder();
    const out = temporaryFolder();
    const argv = ["build", example, "-o", path.join(out, "built")];
    const env = { XDG_CACHE_HOME: cache };
    expect((await gwc(argv, { env })).code).toBe(0);
    expect(readdirSync(path.join(cache, "gwc"))).toEqual([
      "checked-modules.json",
      "declarations.json",
    ]);
    rmSync(path.join(cache, "gwc"), { recursive: true });
    expect(await gwc([...argv, "--check"], { env })).toMatchObject({ code: 0, stderr: "" });
  });
});

it.each([
  ["linux", { HOME: "/home/a" }, "/home/a/.cache/gwc"],
  ["linux", { HOME: "/home/a", XDG_CACHE_HOME: "/var/tmp/a" }, "/var/tmp/a/gwc"],
  // The convention says of relative paths that they mean nothing.
  ["linux", { HOME: "/home/a", XDG_CACHE_HOME: "cache" }, "/home/a/.cache/gwc"],
  ["linux", {}, undefined],
  ["darwin", { HOME: "/Users/a" }, "/Users/a/Library/Caches/gwc"],
] as const)("on %s with %o the memory is in %s", (platform, variables, expected) => {
  const values: Readonly<Record<string, string>> = variables;
  expect(cacheFolder({ variable: (name) => values[name] }, platform)).toBe(expected);
});

it("rules that require what rules before them refused are compiled unchanged", async () => {
  const rules = [
    { deny: 'request.method != "GET"' },
    { allow: 'request.method == "POST"' },
    { deny: "!jwt.verified" },
    { allow: "!jwt.verified" },
  ];
  const jwtAuth = { mode: "optional", issuer: "https://a.test", jwks: { url: "https://a.test/" } };
  const policies = { jwtAuth, authorization: { rules }, directResponse: { status: 200 } };
  const text = JSON.stringify({ binds: [{ port: 1, listeners: [{ routes: [{ policies }] }] }] });
  const file = path.join(temporaryFolder({ "gateway.yaml": text }), "gateway.yaml");
  const compiled = await compileFile(file, { name: "gateway" });
  expect(await checkModules(compiled.modules, temporaryFolder())).toEqual([]);
});
