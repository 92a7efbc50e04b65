import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { checkFiles } from "../../../compiler/compile.ts";
import { realHost } from "../../../compiler/host.ts";
import { presentForm } from "../../../compiler/import/agentgateway/present-form.ts";
import { programDiff } from "../../../compiler/inspect/diff/program-diff.ts";
import type { Program } from "../../../compiler/ir/program.ts";
import { root } from "../../harness/root.ts";

/** Compiles a text as a file of a folder. */
function programOf(text: string, folder: string): Program | undefined {
  const host = realHost(new Proxy({}, { get: () => "value" }));
  const file = path.join(folder, "gateway.yaml");
  const readText: typeof host.readText = (name) =>
    name === file ? { kind: "text", text, isDamaged: false } : host.readText(name);
  return checkFiles([file], { ...host, readText }, { name: "test", isStrict: false }).program;
}

const fixtures = path.join(root, "test/examples/fixtures");
const shapes = parseAllDocuments(readFileSync(path.join(fixtures, "shapes.yaml"), "utf8"))
  .map((document) => document.toJS())
  .filter(({ works, files }) => works === true && files === undefined)
  .map(({ name, file }) => ({ name: String(name), folder: fixtures, text: stringify(file) }));
const several = `
policies:
- target: { gateway: { listenerName: named } }
  policy: { cors: { allowOrigins: ["https://a.test"] } }
- target: { gateway: { listenerName: mcp } }
  policy: { localRateLimit: [{ requests: 3, unit: Seconds }] }
binds:
- port: 3001
  listeners:
  - routes: [{ backends: [{ host: a:80 }] }]
- port: 3002
  address: 127.0.0.1
  listeners:
  - { name: named, policies: { csrf: {} }, routes: [{ backends: [{ host: a:80 }] }] }
- port: 3003
  listeners:
  - { hostname: a.test, routes: [{ name: a, backends: [{ host: a:80 }] }] }
  - { routes: [{ name: b, backends: [{ host: a:80 }] }] }
- port: 3004
  listeners: [{ protocol: TCP, tcpRoutes: [{ backends: [{ host: a:80 }] }] }]
mcp: { targets: [{ name: a, mcp: { host: "http://a:1/mcp" } }] }
llm: { port: 3005, models: [{ name: m, provider: openAI }] }
`;

it.each([...shapes, { name: "several ports", folder: fixtures, text: several }])(
  "$name is the same program in the present form",
  ({ text, folder }) => {
    const before = programOf(text, folder);
    const after = programOf(presentForm(text).text, folder);
    if (before === undefined || after === undefined) throw new Error(presentForm(text).text);
    const { differences, undecided } = programDiff(before, after);
    // The variable for a literal credential is named after the place of that credential.
    const others = differences.filter(
      ({ change }) => !/ the variable GWC_|\.env changed$/.test(change),
    );
    expect([...others, ...undecided]).toEqual([]);
  },
);

it("every part of several ports moves", () => {
  const { text } = presentForm(several);
  expect(text).not.toMatch(/binds|mcp: \{ targets/);
  expect(presentForm(text)).toEqual({ text, moved: new Map(), earlier: [], hasGateways: false });
});

it("a file whose aliases would come before their anchors stays as it is", () => {
  const text = `binds:
- port: 3000
  listeners:
  - routes: [{ policies: { cors: &cors { allowOrigins: ["https://a.test"] } }, backends: [{ host: a:80 }] }]
    policies: { cors: *cors }
`;
  expect(presentForm(text).text).toBe(text);
});
