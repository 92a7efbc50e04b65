import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { auditPrograms } from "../../compiler/inspect/audit/audit.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { diffReport } from "../../compiler/inspect/diff/report/diff-report.ts";
import { packageRoot } from "../../compiler/installation.ts";
import { freePort } from "../harness/free-port.ts";
import { Gateway } from "../harness/gateway.ts";
import { GwcProcess, gwc } from "../harness/gwc.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startUpstream } from "../harness/upstream.ts";

const policy = (header: string, top = "", value = '"yes"') => `${top}
import { definePolicy } from "gwc/policy";

export default definePolicy({
  request(request) {
    request.headers.set("${header}", ${value});
  },
});
`;

function config(port: number, upstream: string, entry: object = {}): string {
  const custom = [{ use: "./policies/own.ts", ...entry }];
  const route = { policies: { custom }, backends: [{ host: new URL(upstream).host }] };
  return JSON.stringify({ name: "own", binds: [{ port, listeners: [{ routes: [route] }] }] });
}

const names = () =>
  startUpstream((request, response) => response.end(Object.keys(request.headers).join(" ")));

it("a package that a policy imports is in the bundle and in the bill of materials", async () => {
  const port = await freePort();
  const folder = temporaryFolder({
    "gateway.yaml": config(port, await names()),
    "policies/own.ts": policy("x-own", 'import { shout } from "shouting";', 'shout("yes")'),
    "node_modules/shouting/package.json": JSON.stringify({
      ...{ name: "shouting", version: "1.2.3", license: "MIT", type: "module" },
      ...{ main: "index.js", types: "index.d.ts" },
    }),
    "node_modules/shouting/index.js": "export const shout = (text) => text.toUpperCase();\n",
    "node_modules/shouting/index.d.ts": "export declare function shout(text: string): string;\n",
  });
  const built = await gwc(["build", "gateway.yaml", "-o", "built"], { cwd: folder });
  expect([built.code, built.stderr]).toEqual([0, ""]);
  const read = (name: string) => readFileSync(path.join(folder, "built", name), "utf8");
  expect(read("gateway.cdx.json")).toContain("pkg:npm/shouting@1.2.3");
  expect(read("policies/own.ts")).toBe(readFileSync(path.join(folder, "policies/own.ts"), "utf8"));
  expect(read("manifest.json")).toContain('"policies/own.ts"');
  const gateway = await new Gateway(path.join(folder, "built", "gateway.mjs"), temporaryFolder(), {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
  }).listening();
  expect((await send(`${gateway.url}/`, "GET")).body).toContain("x-own");
  const again = await gwc(["build", "gateway.yaml", "-o", "built", "--check"], { cwd: folder });
  expect(again.code).toBe(0);
});

it("a package in a module of its own is in the bill of materials by its named version", async () => {
  const version = "7.2.0";
  const bundled = async (...more: readonly string[]) => {
    const banner = ["// @ts-nocheck", ...more].join("\n");
    const { outputFiles } = await build({
      stdin: { contents: 'export { default } from "minisearch";', resolveDir: packageRoot },
      ...{ bundle: true, format: "esm", write: false, banner: { js: banner } },
    });
    return outputFiles.map(({ text }) => text).join("");
  };
  const folder = temporaryFolder({
    "gateway.yaml": config(3000, "http://127.0.0.1:1"),
    "policies/own.ts": policy(
      "x-own",
      'import MiniSearch from "./minisearch.ts";',
      'String(new MiniSearch({ fields: ["text"] }).documentCount)',
    ),
    "policies/minisearch.ts": await bundled(`// @package minisearch@${version} MIT`),
  });
  const built = await gwc(["build", "gateway.yaml", "-o", "built"], { cwd: folder });
  expect([built.code, built.stderr]).toEqual([0, ""]);
  const { components } = JSON.parse(
    readFileSync(path.join(folder, "built", "gateway.cdx.json"), "utf8"),
  );
  expect(components).toContainEqual({
    ...{ type: "library", name: "minisearch", version, licenses: [{ expression: "MIT" }] },
    ...{ "bom-ref": `pkg:npm/minisearch@${version}`, purl: `pkg:npm/minisearch@${version}` },
  });
  const problem = async (text: string) => {
    writeFileSync(path.join(folder, "policies/minisearch.ts"), text);
    return (await gwc(["check", "gateway.yaml"], { cwd: folder })).stdout;
  };
  const unnamed = await problem(await bundled());
  expect(unnamed).toContain('code of the package "minisearch", but does not name its version');
  expect(unnamed).toMatch(/--> policies\/minisearch\.ts:\d+:1\n/);
  expect(unnamed).toContain('write "// @package minisearch@VERSION LICENSE"');
  expect(await problem(await bundled("// @package minisearch"))).toContain(
    '"// @package minisearch" names no package with a version',
  );
});

it("a package may use only modules of Node.js that the configuration allows", async () => {
  const upstream = "http://127.0.0.1:1";
  const folder = temporaryFolder({
    "gateway.yaml": config(3000, upstream),
    "allowed.yaml": config(3000, upstream, { allow: ["os"] }),
    "policies/own.ts": policy("x-own", 'import { name } from "curious";', "name()"),
    "node_modules/curious/package.json": JSON.stringify({
      ...{
        name: "curious",
        version: "1.0.0",
        type: "module",
        main: "index.js",
        types: "index.d.ts",
      },
    }),
    "node_modules/curious/index.js":
      'import os from "node:os";\nexport const name = () => os.hostname();\n',
    "node_modules/curious/index.d.ts": "export declare function name(): string;\n",
  });
  const refused = await gwc(["build", "gateway.yaml"], { cwd: folder });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('"curious" uses "node:os" (curious/index.js): add os to');
  expect((await gwc(["build", "allowed.yaml"], { cwd: folder })).code).toBe(0);
});

/** Code of packages, and what the check says of it; empty if it is valid. */
const PACKAGES: Readonly<Record<string, readonly [code: string, problem: string]>> = {
  env: ["export const f = () => process.env.HOME;", 'uses "process" (env/index.js): add process'],
  mode: ["export const f = () => process.env.NODE_ENV ?? typeof fetch;", ""],
  asks: [
    'export const f = () => fetch("http://127.0.0.1:1");',
    'uses "fetch" (asks/index.js): add fetch',
  ],
  all: ['export const f = () => globalThis["pro" + "cess"];', "add globalThis to"],
  old: ["exports.f = (name) => require(name).name;", "add module to"],
  late: ["export const f = (name) => import(name);", "add module to"],
  native: ['exports.f = require("./addon.node");', 'No loader is configured for ".node" files'],
  outside: ['export { f } from "../../outside.js";', "outside.js, which is not in node_modules"],
  own: ["const fetch = (process) => process;\nexport const f = () => fetch(1);", ""],
  unused: ["export const g = process.env;\nexport const f = 1;", 'uses "process"'],
};

it.each(Object.keys(PACKAGES))("gwc check reads what a package uses: %s", async (name) => {
  const [code = "", problem = ""] = PACKAGES[name] ?? [];
  const folder = temporaryFolder({
    "gateway.yaml": config(3000, "http://127.0.0.1:1"),
    "outside.js": "export const f = 1;\n",
    "policies/own.ts": policy("x-own", `import { f } from "${name}";`, "String(f)"),
    [`node_modules/${name}/package.json`]: JSON.stringify({
      ...{ name, version: "1.0.0", main: "index.js", types: "index.d.ts" },
      type: code.startsWith("exports") ? "commonjs" : "module",
    }),
    [`node_modules/${name}/index.js`]: `${code}\n`,
    [`node_modules/${name}/addon.node`]: "",
    [`node_modules/${name}/index.d.ts`]: "export declare const f: unknown;\n",
  });
  const { code: exit, stdout } = await gwc(["check", "gateway.yaml"], { cwd: folder });
  expect(exit).toBe(problem === "" ? 0 : 1);
  if (problem !== "") expect(stdout).toMatch(/--> policies\/own\.ts:1:19\n/);
  expect(stdout).toContain(problem);
});

it("a package that makes functions of texts fails when it does", async () => {
  const port = await freePort();
  const folder = temporaryFolder({
    "gateway.yaml": config(port, await names()),
    "policies/own.ts": policy(
      "x-own",
      'import { f } from "texts";',
      'f(request.headers.get("x-text") ?? "")',
    ),
    "node_modules/texts/package.json": JSON.stringify({
      ...{ name: "texts", version: "1.0.0", type: "module", main: "index.js", types: "index.d.ts" },
    }),
    "node_modules/texts/index.js":
      'export const f = (text) => String(text === "eval" ? eval("process.pid") : text === "function" ? new Function("return process.pid")() : (() => 1) instanceof Function);\n',
    "node_modules/texts/index.d.ts": "export declare function f(text: string): string;\n",
  });
  expect((await gwc(["build", "gateway.yaml", "-o", "built"], { cwd: folder })).code).toBe(0);
  const gateway = await new Gateway(path.join(folder, "built", "gateway.mjs"), temporaryFolder(), {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
  }).listening();
  const get = async (text: string) =>
    (await send(`${gateway.url}/`, "GET", { "x-text": text })).status;
  expect([await get("eval"), await get("function"), await get("none")]).toEqual([500, 500, 200]);
});

it("gwc run reloads a policy when its module changes", async () => {
  const port = await freePort();
  const folder = temporaryFolder({
    "gateway.yaml": config(port, await names()),
    "policies/own.ts": policy("x-first"),
  });
  const env = {
    STATS_ADDR: "127.0.0.1:0",
    READINESS_ADDR: "127.0.0.1:0",
    ADMIN_ADDR: "127.0.0.1:0",
  };
  const running = new GwcProcess(["run", "-f", path.join(folder, "gateway.yaml")], { env });
  await running.seen(/listening on/);
  const sent = async () => (await send(`http://127.0.0.1:${port}/`, "GET")).body;
  expect(await sent()).toContain("x-first");
  writeFileSync(path.join(folder, "policies/own.ts"), policy("x-second"));
  await expect.poll(sent).toContain("x-second");
  expect(await sent()).not.toContain("x-first");
});

it("a thousand versions of a module leave nothing in memory", async () => {
  const script = path.join(import.meta.dirname, "reloaded-modules.ts");
  const options = ["--expose-gc", script];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  expect(Number(stdout)).toBeLessThan(10);
});

it("gwc init writes a policy that gwc check accepts, and its test", async () => {
  const folder = temporaryFolder({ "gateway.yaml": config(3000, "http://127.0.0.1:1") });
  const written = await gwc(["init", "--policy", "own"], { cwd: folder });
  expect([written.code, written.stdout]).toEqual([
    0,
    "policies/own.ts\npolicies/own.test.ts\npolicies/tsconfig.json\n",
  ]);
  expect((await gwc(["check", "gateway.yaml"], { cwd: folder })).code).toBe(0);
  expect((await gwc(["init", "--policy", "own"], { cwd: folder })).code).toBe(1);
  expect((await gwc(["init", "--policy", "../own"], { cwd: folder })).code).toBe(2);
});

function checked(file: string, text: string, module: string) {
  return checkInput([file], memoryHost({ [file]: text, "policies/own.ts": module }), false);
}

function difference(before: ReturnType<typeof checked>, after: ReturnType<typeof checked>): string {
  if (before.program === undefined || after.program === undefined) throw new Error("a mistake");
  const diff = programDiff(before.program, after.program);
  return diffReport("text", diff, { before: before.files, after: after.files });
}

it("gwc diff names changed code, and what a use allows and does on failure", () => {
  const upstream = "http://127.0.0.1:1";
  const old = checked("old.yaml", config(3000, upstream), policy("x-a"));
  const now = checked("new.yaml", config(3000, upstream), policy("x-b"));
  expect(difference(old, now)).toContain("code of policies/own.ts changed");
  expect(difference(old, now)).toMatch(
    /\n +@@ 4\n +export default.*\n +request\(request\) \{\n +- +request\.headers\.set\("x-a".*\n +\+ +request\.headers\.set\("x-b"/,
  );
  const open = config(3000, upstream, { failureMode: "failOpen", allow: ["fetch"] });
  const opened = difference(old, checked("new.yaml", open, policy("x-a")));
  expect(opened).toContain("if own fails, requests are allowed");
  expect(opened).toContain("allow of own fetch added");
});

it("gwc graph, and gwc diff with a manifest, name policies", async () => {
  const upstream = "http://127.0.0.1:1";
  const folder = temporaryFolder({
    "gateway.yaml": config(3000, upstream, { timeout: "1s" }),
    "next.yaml": config(3000, upstream, { timeout: "2s" }),
    "policies/own.ts": policy("x-a").replace("request(", "async request("),
  });
  expect((await gwc(["graph"], { cwd: folder })).stdout).toContain("custom: own");
  expect((await gwc(["build", "-o", "built"], { cwd: folder })).code).toBe(0);
  const drawn = await gwc(["graph", "built/manifest.json"], { cwd: folder });
  expect(drawn.stdout).toContain("custom: own");
  const compared = async (file: string) =>
    (await gwc(["diff", "built/manifest.json", file], { cwd: folder })).stdout;
  expect(await compared("next.yaml")).toContain("custom: settings of own changed");
  expect(await compared("gateway.yaml")).toContain("no request is treated differently");
  writeFileSync(
    path.join(folder, "policies/own.ts"),
    policy("x-b").replace("request(", "async request("),
  );
  expect(await compared("gateway.yaml")).toContain("custom: code of own changed");
});

it("gwc explain prints what a module declares", async () => {
  const module = policy("x-own")
    .replace("export", "/** Adds a header. */\nexport")
    .replace(
      "({",
      '({\n  options: { name: { type: "string", description: "A name.", default: "a" } },',
    );
  const cwd = temporaryFolder({ "policies/own.ts": module, "policies/none.ts": "export {};\n" });
  const { code, stdout } = await gwc(["explain", "policies/own.ts"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /Adds a header\.[\s\S]*Runs in: request\.[\s\S]*with\.name +string +A name\. default: "a"/,
  );
  const { stderr } = await gwc(["explain", "policies/none.ts"], { cwd });
  expect(stderr).toContain("policies/none.ts: the module has no default export");
});

it("gwc check of a folder leaves out the settings of policies", async () => {
  const cwd = temporaryFolder({ "gateway.yaml": config(3000, "http://127.0.0.1:1") });
  await gwc(["init", "--policy", "own"], { cwd });
  expect((await gwc(["check", "."], { cwd })).stderr).not.toContain("tsconfig");
});

it("gwc audit counts only policies that may refuse", () => {
  const gateway = config(3000, "http://127.0.0.1:1")
    .replace(
      '"host"',
      '"mcp":{"targets":[{"name":"a","mcp":{"host":"http://127.0.0.1:1/mcp"}}]},"_"',
    )
    .replace(/,"_":"[^"]*"/, "");
  const audited = (module: string) => {
    const { programs } = checked("a.yaml", gateway, module);
    expect(programs).toHaveLength(1);
    return auditPrograms(programs).map(({ code }) => code);
  };
  expect(audited(policy("x-a"))).toContain("open-backend");
  const refusing = policy("x-a").replace(
    "request.headers",
    'if (request.path === "/") return request.refuse(403, "no");\n    request.headers',
  );
  expect(audited(refusing)).not.toContain("open-backend");
});

it("gwc audit reports a use that passes requests on failure", () => {
  const open = config(3000, "http://127.0.0.1:1", { failureMode: "failOpen" });
  const { programs } = checked("a.yaml", open, policy("x-a"));
  expect(auditPrograms(programs).map(({ code }) => code)).toContain("passes-on-failure");
});
