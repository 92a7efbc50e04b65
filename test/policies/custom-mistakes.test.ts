import { describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { routesConfig } from "../harness/routes-gateway.ts";
import { nowhere, routesText } from "./routes.ts";

/** Returns the messages about a use of a policy, each with its code and place. */
function mistakes(
  policy: string,
  entry: object = {},
  files: Readonly<Record<string, string>> = {},
) {
  const custom = [{ use: "./policies/own.ts", ...entry }];
  const config = routesConfig(routesText({ route: { policies: { custom } } }, nowhere), 3000);
  const host = memoryHost({ "gateway.yaml": config, "policies/own.ts": policy, ...files });
  return checkInput(["gateway.yaml"], host, false).findings.map(
    ({ code, message, location }) =>
      `${location.path}:${location.line}:${location.column} ${code}: ${message}`,
  );
}

/** The same for a route to a model. */
function mistakesOfModels(hook: string, type: string): readonly string[] {
  const custom = [{ use: "./policies/own.ts" }];
  const route = {
    policies: { custom, ai: { routes: { "*": type } } },
    backends: [{ ai: { provider: { openAI: {} } } }],
  };
  const config = routesConfig(routesText({ route }, nowhere), 3000);
  const host = memoryHost({ "gateway.yaml": config, "policies/own.ts": policy(hook) });
  return checkInput(["gateway.yaml"], host, false).findings.map(
    ({ code, message }) => `${code}: ${message}`,
  );
}

const policy = (body: string, top = "") =>
  `import { definePolicy } from "gwc/policy";\n${top}\nexport default definePolicy({\n${body}\n});\n`;

const REQUEST = "  request() {},";

describe("a hook for another kind of messages", () => {
  it.each([
    ["toolCall", "MCP routes"],
    ["prompt", "routes to models"],
    ["completion", "routes to models"],
  ])("is refused: %s", (hook, actsOn) => {
    const message = `the hook "${hook}" of ./policies/own.ts acts on ${actsOn} only`;
    expect(mistakes(policy(`  ${hook}() {},`))).toContainEqual(expect.stringContaining(message));
  });

  it.each(["requestBody", "responseBody", "responseStream", "toolResult"])(
    "is refused on a route to models: %s",
    (hook) => {
      expect(mistakesOfModels(`  ${hook}() {},`, "completions")).toContainEqual(
        expect.stringContaining(`the hook "${hook}" of ./policies/own.ts acts on`),
      );
    },
  );

  it("is refused if a path of the route passes calls unread", () => {
    expect(mistakesOfModels("  prompt() {},", "completions")).toEqual([]);
    expect(mistakesOfModels("  prompt() {},", "passthrough")).toEqual([
      expect.stringContaining(
        "guard-cannot-act: a hook for texts cannot inspect Passthrough requests of this route",
      ),
    ]);
  });
});

describe("a policy's module", () => {
  it("has no mistakes if it is right", () => {
    expect(mistakes(policy(REQUEST))).toEqual([]);
  });

  it("is checked by TypeScript, at its lines", () => {
    const text = policy(
      "  request(request) {\n    const name: number = request.method;\n    return { name };\n  },",
    );
    expect(mistakes(text)).toContain(
      "policies/own.ts:5:11 policy-types: Type 'string' is not assignable to type 'number'.",
    );
  });

  it.each([
    ["  request() { return later(); },", "request"],
    ["  request: later,", "request"],
    ["  requestBody: () => (Math.random() > 1 ? later() : undefined),", "requestBody"],
  ])("declares hooks async that return promises: %s", (hooks, name) => {
    const found = mistakes(policy(hooks, "async function later() {}")).filter((each) =>
      each.includes("policy-types"),
    );
    expect(found).toEqual([
      expect.stringMatching(
        `^policies/own.ts:4:3 policy-types: the hook "${name}" returns a promise`,
      ),
    ]);
  });

  it("uses what Node.js 24 has of the language", () => {
    const text = policy(
      '  request(request) {\n    request.headers.set("x", new Uint8Array(1).toHex());\n  },',
    );
    expect(mistakes(text)).toEqual([
      expect.stringMatching(
        /own\.ts:5:\d+ policy-types: .*'toHex'.* Node\.js 24 does not have it\.$/,
      ),
    ]);
  });

  it("is a file in the folder of policies", () => {
    expect(mistakes("", { use: "./own.ts" })).toEqual([
      expect.stringContaining('bad-format: "use" must be the path of a TypeScript module'),
    ]);
    expect(mistakes("", { use: "./policies/../../secret.ts" })).toEqual([
      expect.stringContaining("bad-format"),
    ]);
    expect(mistakes("", { use: "./policies/missing.ts" })).toEqual([
      expect.stringContaining("policy-unreadable"),
    ]);
  });

  it.each([
    ["", "no default export"],
    ["export default 5;\n", "must be definePolicy"],
    [policy("  options: { a: { type: String() } },\n  request() {},"), "must be a literal"],
    [policy("  provides: { a: 'string' },"), "the policy has no hook"],
    [policy("  reqest() {},"), 'a policy has no "reqest"'],
    [policy("  async response() {},"), 'the hook "response" cannot be async'],
    [policy("  responseStream: async () => {},"), 'the hook "responseStream" cannot be async'],
    [policy(REQUEST, 'import fs from "node:fs";\nexport const x = fs;'), 'add fs to "allow"'],
    [
      policy(REQUEST, 'import cp from "child_process";\nexport const x = cp;'),
      'add child_process to "allow"',
    ],
    [policy('  request() { fetch("http://127.0.0.1"); },'), 'add fetch to "allow"'],
    [policy("  request() { return process.exit(); },"), 'add process to "allow"'],
    [policy('  request() { eval("1"); },'), '"eval" is not allowed'],
    [policy("  request() { globalThis.process.exit(); },"), '"globalThis" is not allowed'],
    [policy('  async request() { await import("node:fs"); },'), "import() is not allowed"],
    [policy(REQUEST, 'import "../secret.ts";'), 'in the folder "policies"'],
    [policy(REQUEST, 'import "data:text/javascript,1";'), "nor a package"],
    [policy(REQUEST, 'import "/etc/secret.ts";'), "nor a package"],
    [policy(REQUEST, 'import "gwc/runtime/http/refuse";'), 'a policy imports "gwc/policy" only'],
    [policy(REQUEST, 'import fs = require("node:fs");\nexport const x = fs;'), "import ... from"],
    [policy("  request() { return import.meta.url; },"), "import.meta is not allowed"],
    [policy(REQUEST, "await Promise.resolve();"), "await is not allowed outside of functions"],
    [policy("  request() { new Worker(''); },"), '"Worker" is not declared'],
    [policy("  request() { Buffer.from(''); },"), '"Buffer" is not declared'],
    [policy("  request() { return { process }; },"), 'add process to "allow"'],
    [policy("  request() { process.exit(); },", "declare const process: any;"), "add process"],
    [policy("  request() { (() => 1).constructor('1'); },"), '"constructor" is not allowed'],
    [policy("  request() { const { constructor: F } = () => 1; F; },"), '"constructor" is not'],
    [
      policy("  options: { n: { type: 'integer', default: 'x' } },\n  request() {},"),
      '"default" of the option "n" is not one of its valid values',
    ],
    [
      policy("  options: { n: { type: 'integer', minimum: 3, default: 2 } },\n  request() {},"),
      '"default" of the option "n"',
    ],
    [
      policy("  options: { n: { type: 'string', pattern: '(' } },\n  request() {},"),
      '"pattern" of the option "n" is not a regular expression',
    ],
    [
      policy("  options: { n: { type: 'string', minimum: 1 } },\n  request() {},"),
      '"minimum" of the option "n" is for the type number or integer',
    ],
    [
      policy("  options: { n: { type: 'string', secret: true, default: 'x' } },\n  request() {},"),
      "a default would be part of the code",
    ],
    [
      policy("  options: { 'a b': { type: 'string' } },\n  request() {},"),
      "not a name of an option",
    ],
    [policy("  provides: { 'a-b': 'string' },\n  request() {},"), "not a name of a value"],
    [
      policy("  request() { Array.prototype.map = () => []; },"),
      '"Array.prototype.map" belongs to',
    ],
    [policy("  request() { delete Math.max; },"), '"Math.max" belongs to'],
    [policy("  request() { crypto = 1; },"), '"crypto" belongs to'],
    [policy("  request() { Object.assign(JSON, {}); },"), '"JSON" belongs to'],
    [policy("  request(r) { (r as any).__proto__.x = 1; },"), '"__proto__" belongs to'],
    [policy("  request(r) { (r as any)['__proto__'].x = 1; },"), '"__proto__" belongs to'],
  ])("is refused: %s", (text, message) => {
    expect(mistakes(text).join("\n")).toMatch(/policy-module: /);
    expect(mistakes(text).join("\n")).toContain(message);
  });

  it("may use what the configuration allows", () => {
    const text = policy(
      '  async request() { await fetch("http://127.0.0.1"); },',
      'import { randomUUID } from "node:crypto";\nexport const x: string = randomUUID();',
    );
    expect(mistakes(text, { allow: ["crypto", "fetch"] })).toEqual([]);
  });

  it("may declare names that are also global", () => {
    const text = policy(
      '  request(request) {\n    const process = (fetch: string) => fetch;\n    request.headers.set("x-a", process("b"));\n  },',
      "enum Level {\n  Low,\n}\nclass Self {\n  readonly require = Level.Low;\n}\nexport const self = new Self().require;",
    );
    expect(mistakes(text)).toEqual([]);
  });

  it("may import other modules of the folder, which are checked too", () => {
    const text = policy(REQUEST, 'import { a } from "./lib/a.ts";\nexport const b = a;');
    expect(mistakes(text, {}, { "policies/lib/a.ts": "export const a = 1;\n" })).toEqual([]);
    expect(mistakes(text, {}, { "policies/lib/a.ts": "export const a: string = 1;\n" })).toEqual([
      expect.stringMatching(/^policies\/lib\/a\.ts:1:14 policy-types/),
    ]);
    expect(mistakes(text)).toEqual([
      expect.stringContaining("policies/own.ts:2:20 policy-unreadable"),
    ]);
  });
});

describe("options in `with`", () => {
  const text = policy(
    `  options: {
    name: { type: "string", required: true, pattern: "^[a-z]+$" },
    size: { type: "integer", minimum: 1, maximum: 9, default: 5 },
    mode: { type: "string", enum: ["one", "two"] },
    key: { type: "string", secret: true },
  },
  request(request, { name, size, mode, key }) {
    const all: [string, number, "one" | "two" | undefined, string | undefined] = [name, size, mode, key];
    request.headers.set("x-all", all.join());
  },`,
  );

  it.each([
    [{ name: "a" }, ""],
    [{}, '"name"'],
    [{ name: "A" }, "matches"],
    [{ name: "a", size: 12 }, "size"],
    [{ name: "a", size: "big" }, "size"],
    [{ name: "a", mode: "three" }, "mode"],
    [{ name: "a", nmae: "b" }, "nmae"],
    [{ name: "a", key: "literal" }, "literal-secret"],
  ])("are validated: %j", (given, message) => {
    const found = mistakes(text, { with: given }).join("\n");
    expect(found).toContain(message);
    expect(found === "").toBe(message === "");
    if (found !== "") expect(found).toMatch(/^gateway\.yaml:\d+:\d+ /);
  });

  it("are defaults for the types of the hooks", () => {
    expect(mistakes(text, { with: { name: "a", size: 3, mode: "two", key: "${KEY}" } })).toEqual(
      [],
    );
  });
});

describe("a use of a policy", () => {
  it("has no timeout without an async hook", () => {
    expect(mistakes(policy(REQUEST), { timeout: "1s" })).toEqual([
      expect.stringContaining("idle-callout-field"),
    ]);
  });

  it("does not provide what another one provides", () => {
    const provider = policy('  provides: { a: "string" },\n  request() { return { a: "x" }; },');
    const custom = [{ use: "./policies/one.ts" }, { use: "./policies/two.ts" }];
    const config = routesConfig(routesText({ route: { policies: { custom } } }, nowhere), 3000);
    const host = memoryHost({
      "gateway.yaml": config,
      "policies/one.ts": provider,
      "policies/two.ts": provider,
    });
    const { findings } = checkInput(["gateway.yaml"], host, false);
    expect(findings.map(({ code }) => code)).toEqual(["provided-twice"]);
  });
});

describe("a name in allow that allows nothing", () => {
  it.each([
    ["node:crypto", "write crypto"],
    ["proces", "write process"],
    ["chromium", undefined],
  ])("is a mistake at its place: %s", (name, hint) => {
    const custom = [{ use: "./policies/own.ts", allow: ["crypto", name] }];
    const config = routesConfig(routesText({ route: { policies: { custom } } }, nowhere), 3000);
    const host = memoryHost({ "gateway.yaml": config, "policies/own.ts": policy(REQUEST) });
    const [found] = checkInput(["gateway.yaml"], host, false).findings;
    expect(found?.message).toBe(
      `"${name}" must be the name of a module of Node.js without "node:", or fetch, process or globalThis`,
    );
    expect(found?.hint).toBe(hint);
    expect(
      config.split("\n")[(found?.location.line ?? 0) - 1]?.slice((found?.location.column ?? 0) - 1),
    ).toMatch(new RegExp(`^"${name}"`));
  });
});

it("says which hooks a route has, and how values from outside are read", () => {
  const custom = [{ use: "./policies/own.ts" }];
  const config = routesConfig(routesText({ route: { policies: { custom } } }, nowhere), 3000);
  const hints = (text: string) =>
    checkInput(
      ["gateway.yaml"],
      memoryHost({ "gateway.yaml": config, "policies/own.ts": text }),
      true,
    ).findings.map(({ hint }) => hint);
  expect(hints(policy("  toolCall() {},"))).toEqual([
    'besides "request" and "response", this route has "requestBody", "responseBody", "responseStream"',
  ]);
  expect(
    hints(policy("  request({ jwt }) { return jwt?.sub.length > 1 ? undefined : undefined; },")),
  ).toContain("JSON from outside has no type: test it first, such as with typeof or Array.isArray");
});
