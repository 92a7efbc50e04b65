import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { emitModules } from "../../compiler/4-emit/modules.ts";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Returns the changes of `biome format` to TypeScript files, with the settings of this repository. */
function changes(files: Readonly<Record<string, string>>): string {
  const { formatter, javascript } = JSON.parse(readFileSync(path.join(root, "biome.json"), "utf8"));
  const settings = { formatter, javascript };
  const cwd = temporaryFolder({ ...files, "biome.json": JSON.stringify(settings) });
  try {
    execFileSync(path.join(root, "node_modules/.bin/biome"), ["format", ...Object.keys(files)], {
      cwd,
      stdio: "pipe",
    });
    return "";
  } catch (error) {
    return error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
  }
}

function modulesOf(config: object): Readonly<Record<string, string>> {
  const host = memoryHost({ "gateway.yaml": JSON.stringify(config) });
  const checked = checkFiles(["gateway.yaml"], host, { name: "gateway", isStrict: false });
  const modules = checked.programs.flatMap((program) =>
    emitModules(program, "path", checked.files),
  );
  expect(checked.programs.length, JSON.stringify(checked.diagnostics)).toBe(1);
  expect(modules.length).toBeGreaterThan(1);
  return Object.fromEntries(modules.map(({ path: name, text }) => [name, text]));
}

it("biome format would change nothing in the compiled examples", () => {
  const files = globSync("out/**/*.ts", { cwd: root });
  expect(files.length).toBeGreaterThan(20);
  const texts = files.map((file) => [file, readFileSync(path.join(root, file), "utf8")]);
  expect(changes(Object.fromEntries(texts))).toBe("");
});

const long = (word: string, count = 12) => Array.from({ length: count }, () => word).join("-");

it("biome format would change nothing of long rules, lists, strings and imports", () => {
  const tiers = ["gold", "silver", "bronze"].map((tier) => `jwt.tier == "${long(tier)}"`);
  const route = (name: string, policies: object) => ({
    name,
    matches: [
      { path: { pathPrefix: `/${name}` } },
      {
        path: { regex: `/${name}/(${long("a")}|${long("b")})` },
        headers: [
          { name: "x-release", value: { regex: "^(beta|canary)-[0-9]+$" } },
          { name: "x-very-long-header-name", value: { exact: long("value") } },
        ],
      },
    ],
    policies,
    backends: [{ host: "127.0.0.1:9000" }],
  });
  const modules = modulesOf({
    name: "awkward",
    frontendPolicies: {
      http: { maxBufferSize: 100_001, http2WindowSize: 65_535, maxConnectionDuration: "90s" },
      tcp: { keepalives: { time: "45s" } },
    },
    binds: [
      {
        port: 8080,
        listeners: [
          {
            routes: [
              route("rules", {
                jwtAuth: {
                  mode: "optional",
                  issuer: "https://issuer.example",
                  jwks: { url: "https://issuer.example/keys" },
                },
                authorization: {
                  rules: [
                    { allow: tiers.join(" || ") },
                    { allow: `${tiers.join(" && ")} || (has(jwt.a) && !(jwt.b in ["x", "y"]))` },
                    { deny: `jwt.list.exists(item, item.name.startsWith("${long("abc")}"))` },
                    { require: `jwt.list.all(a, jwt.other.exists(b, a.name == b.name || a == b))` },
                    { allow: `jwt.tier == "a" ? jwt.x == 1 : jwt.tier == "b" ? jwt.y : jwt.z` },
                  ],
                },
              }),
              route("values", {
                transformations: {
                  request: {
                    set: {
                      "x-tier": `jwt.tier == "a" ? "${long("first")}" : jwt.b ? "b" : "${long("c")}"`,
                      "x-names": `["${long("a")}", "${long("b")}"].map(name, name + "${long("c", 30)}").join(",")`,
                    },
                  },
                  response: {
                    body: `toJson({"code": response.code, "${long("key")}": {"a": [1, 2, 3], "b": "é"}})`,
                  },
                },
                retry: { attempts: 3, codes: Array.from({ length: 40 }, (_, at) => 500 + at) },
              }),
              route("texts", {
                directResponse: {
                  status: 503,
                  body: `{"error": "${long("down", 20)}", "it's": "\\"quoted\\""}`,
                },
              }),
              route("origins", {
                cors: {
                  allowOrigins: Array.from({ length: 9 }, (_, at) => `https://${at}.example`),
                },
                localRateLimit: [
                  { maxTokens: 10, tokensPerFill: 1, fillInterval: "1s" },
                  {
                    maxTokens: 10,
                    tokensPerFill: 1,
                    fillInterval: "500ms",
                    key: 'request.headers["x-forwarded-for"].split(",")[0].trim()',
                  },
                ],
              }),
            ],
          },
        ],
      },
    ],
  });
  expect(changes(modules)).toBe("");
});

it("of a long table a changed route alters its module and one part, and all parts are formatted", () => {
  const routes = (changed: string) =>
    Array.from({ length: 300 }, (_, index) => ({
      name: `route-${index}`,
      ...(index % 2 === 0 ? { hostnames: [`h${index}.example.com`] } : {}),
      matches: [
        { path: { pathPrefix: index === 7 ? changed : `/route-${index}` } },
        {
          path: { regex: `/(${index}|x-${index})` },
          headers: [{ name: "x-of", value: { exact: "a" } }],
        },
      ],
      policies: { directResponse: { status: 200, body: "b" } },
    }));
  const compiled = (changed: string) =>
    modulesOf({ binds: [{ port: 3000, listeners: [{ name: "web", routes: routes(changed) }] }] });
  const [before, after] = [compiled("/old"), compiled("/new")];
  const different = Object.keys({ ...before, ...after }).filter(
    (name) => before[name] !== after[name],
  );
  const tables = Object.keys(after).filter((name) => name.startsWith("tables/"));
  expect(tables.length).toBeGreaterThan(5);
  expect(different.filter((name) => name.startsWith("routes/"))).toEqual([]);
  expect(different.length).toBeLessThan(4);
  expect(different.filter((name) => !tables.includes(name) && before[name] !== undefined)).toEqual(
    [],
  );
  const texts = [...tables, "main.ts"].map((name) => [name, after[name] ?? ""] as const);
  expect(changes(Object.fromEntries(texts))).toBe("");
});

it("handlers in a long table are formatted, and each is in one part", () => {
  const routes = Array.from({ length: 600 }, (_, at) => ({
    name: at % 3 === 0 ? `r${at}` : `${long("service", 4)}-${at}`,
    hostnames: [`h${at % 5}.example.com`],
    matches: [{ path: { pathPrefix: at % 2 === 0 ? `/${at}` : `/${long("path", 8)}/${at}` } }],
    backends: [{ host: at % 7 === 0 ? `${long("host", 9)}:80` : "a:80" }],
  }));
  const modules = modulesOf({ binds: [{ port: 3000, listeners: [{ name: "web", routes }] }] });
  const tables = Object.entries(modules).filter(([name]) => name.startsWith("tables/"));
  const text = tables.map(([, each]) => each).join("");
  expect(text.split("forwardingTo(").length - 1).toBe(600);
  expect(Object.keys(modules).filter((name) => name.startsWith("routes/"))).toEqual([]);
  expect(changes(Object.fromEntries(tables))).toBe("");
});

it("a change of one host writes no part of a long table of another host again", () => {
  const headers = Array.from({ length: 16 }, (_, at) => ({
    name: `h${at}`,
    value: { regex: `a${at}+` },
  }));
  const long = Array.from({ length: 40 }, (_, at) => ({ path: { regex: `/x${at}/.*` }, headers }));
  const policies = { directResponse: { status: 200 } };
  const compiled = (path: string) => {
    const routes = [
      { name: "x", hostnames: ["x.test"], matches: long, policies },
      { name: "b", hostnames: ["b.test"], matches: [{ path: { exact: path } }], policies },
    ];
    return modulesOf({ binds: [{ port: 3000, listeners: [{ name: "web", routes }] }] });
  };
  const [before, after] = [compiled("/old"), compiled("/new")];
  const ofX = Object.entries(after).filter(([, text]) => text.includes('"x.test"'));
  expect(ofX.length).toBeGreaterThan(0);
  for (const [name, text] of ofX) expect([name, text]).toEqual([name, before[name]]);
});

it("biome format would change nothing of backends that share a route", () => {
  const mcp = (name: string) => ({
    mcp: { targets: [{ name, mcp: { host: `http://${name}.test/mcp` } }] },
  });
  const jwtAuth = { issuer: "https://issuer.test", jwks: { url: "https://issuer.test/keys" } };
  const route = (name: string, policies: object, ...backends: object[]) => ({
    ...{ name, policies, backends },
    matches: [{ path: { pathPrefix: `/${name}` } }],
  });
  const routes = [
    route("two", { jwtAuth, retry: { attempts: 1 } }, mcp("one"), mcp("two")),
    route("mixed", { timeout: { requestTimeout: "5s" } }, mcp("one"), {
      host: "a.test:80",
      weight: 3,
    }),
    route(
      "servers",
      { retry: { attempts: 2 } },
      mcp("one"),
      { host: "a.test:80" },
      { host: "b.test:80" },
    ),
    route("token", { jwtAuth, backendAuth: { passthrough: {} } }, mcp("one"), {
      host: "a.test:80",
    }),
  ];
  const config = { binds: [{ port: 3000, listeners: [{ routes }] }] };
  expect(changes(modulesOf(config))).toBe("");
});
