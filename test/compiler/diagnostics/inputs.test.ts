import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { memoryHost, realHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";

/** Returns the diagnostics for files that only a test can contain: `code at line:column: message`. */
function said(files: Readonly<Record<string, string>>, paths = Object.keys(files)): string[] {
  const { findings, program } = checkInput(paths, memoryHost(files), false);
  expect(program).toBeUndefined();
  return findings.map(
    ({ code, message, location }) => `${code} at ${location.line}:${location.column}: ${message}`,
  );
}

/** A gateway with one authorization rule. */
function withRule(rule: string): string {
  return `binds: [{port: 3000, listeners: [{routes: [{policies: {authorization: {rules: [${JSON.stringify(
    rule,
  )}]}}, backends: [{host: "127.0.0.1:1"}]}]}]}]`;
}

describe("files as a whole", () => {
  it("a file that is not there is named", () => {
    expect(said({}, ["gone.yaml"])).toEqual([
      'file-not-found at 1:1: "gone.yaml" cannot be read: there is no such file',
    ]);
  });

  it("a file without content is named", () => {
    expect(said({ "a.yaml": "# nothing yet\n" })).toEqual([
      'empty-file at 1:1: "a.yaml" contains no configuration',
    ]);
  });

  it.each([
    ["a document of comments before it", "# a licence\n---\nBINDS\n"],
    ["an empty document after it", "BINDS\n---\n"],
    ["comments after the end of documents", "---\nBINDS\n...\n# end\n---\n# nothing\n"],
  ])("a standalone file may have %s", (_, text) => {
    const binds = 'binds: [{port: 3000, listeners: [{routes: [{backends: [{host: "a:1"}]}]}]}]';
    const host = memoryHost({ "a.yaml": text.replace("BINDS", binds) });
    const { findings, program } = checkInput(["a.yaml"], host, false);
    expect(findings).toEqual([]);
    expect(program).toBeDefined();
  });

  it("a mistake after an empty document is shown at its place", () => {
    expect(said({ "a.yaml": "# a licence\n---\n# and more\n---\nbindz: []\n" })).toContainEqual(
      expect.stringMatching(/^unknown-field at 5:1: /),
    );
  });

  it.each([
    [
      "apiVersion:\nkind: GatewayPolicy",
      'wrong-type at 1:12: "apiVersion" must be a string, not empty',
    ],
    [
      'apiVersion: ""\nkind: HTTPRoute',
      'wrong-type at 1:13: "apiVersion" must be a string, not empty',
    ],
    [
      "apiVersion: gwc.dev/v1alpha1\nkind: 5",
      'wrong-type at 2:7: "kind" must be a string, not a whole number',
    ],
    [
      "apiVersion: gateway.networking.k8s.io\nkind: HTTPRoute",
      'wrong-version at 1:13: HTTPRoute has no version "gateway.networking.k8s.io"',
    ],
    [
      "apiVersion: agentgatewy.dev/v1alpha1\nkind: AgentgatewayPolicy",
      'wrong-version at 1:13: AgentgatewayPolicy has no version "agentgatewy.dev/v1alpha1"',
    ],
    [
      "apiVersion: v1\nkind: List\nitems:\n  - kind: HTTPRoute",
      'missing-field at 4:5: items[0] needs the field "apiVersion"',
    ],
    [
      "apiVersion: gwc.dev/v1alpha1\nKind: GatewayPolicy\nmetadata: { name: b }\n---\napiVersion: v1\nkind: Secret",
      'missing-field at 1:1: the document needs the field "kind"',
    ],
  ])("no manifest is left out without a word: %j", (head, message) => {
    expect(said({ "a.yaml": `${head}\nmetadata: { name: a }\n` })).toContainEqual(message);
  });

  it("a route that lacks its backends is one mistake, whatever policies it has", () => {
    const policies = "{ urlRewrite: { path: { prefix: /a } }, timeout: { requestTimeout: 5s } }";
    const text = `binds: [{port: 3000, listeners: [{routes: [{name: a, policies: ${policies}}]}]}]`;
    expect(said({ "a.yaml": text })).toEqual([
      expect.stringContaining('the route "a" has no backend'),
    ]);
  });

  it("a file of comments next to a standalone file is no second gateway", () => {
    const text = 'binds: [{port: 3000, listeners: [{routes: [{backends: [{host: "a:1"}]}]}]}]';
    const host = memoryHost({ "a.yaml": text, "b.yaml": "# for later\n" });
    expect(checkInput(["a.yaml", "b.yaml"], host, false)).toMatchObject({ findings: [] });
  });

  it("a file that is only below the working directory is taken from there, and noted", () => {
    const text = `
binds: [{port: 3000, listeners: [{routes: [{
  policies: {jwtAuth: {issuer: "https://i.example.com", audiences: [a], jwks: {file: keys/jwks.json}}},
  backends: [{host: "a:1"}]}]}]}]`;
    const keys =
      '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}';
    const codesOf = (files: Readonly<Record<string, string>>) =>
      checkInput(
        ["conf/a.yaml"],
        memoryHost({ "conf/a.yaml": text, ...files }),
        false,
      ).findings.map(({ code, severity }) => `${severity} ${code}`);
    expect(codesOf({ "keys/jwks.json": keys })).toEqual(["note path-elsewhere"]);
    expect(codesOf({ "conf/keys/jwks.json": keys, "keys/jwks.json": "{}" })).toEqual([]);
    expect(codesOf({})).toEqual(["error file-not-found"]);
  });

  it("removing an access log field that no line has is a warning, and the rest is built", () => {
    const text =
      "config: {logging: {fields: {remove: [http.metod, http.path]}}}\n" +
      'binds: [{port: 3000, listeners: [{routes: [{backends: [{host: "a:1"}]}]}]}]';
    const { findings, program } = checkInput(["a.yaml"], memoryHost({ "a.yaml": text }), false);
    expect(findings).toMatchObject([{ code: "unknown-log-field", severity: "warning" }]);
    expect(program?.accessLog?.fields?.removed).toEqual(["http.path"]);
  });

  it("a second standalone file is refused, not merged into the first", () => {
    const text = 'binds: [{port: 3000, listeners: [{routes: [{backends: [{host: "a:1"}]}]}]}]';
    expect(said({ "a.yaml": text, "b.yaml": text.replace("3000", "3001") })).toEqual([
      'several-files at 1:1: only one standalone file can be compiled at a time, and "b.yaml" is a second one',
    ]);
  });

  it.each([
    ["mcp", 'mcp: {port: 3000, targets: [{name: a, mcp: {host: "http://127.0.0.1:1/mcp"}}]}'],
    ["llm", "llm: {port: 4000, models: [{name: a, provider: openAI, params: {apiKey: x}}]}"],
  ])("files of other tools next to the short form %s are not part of the input", (_, text) => {
    const files = {
      "folder/gateway.yaml": text,
      "folder/jwks.json": '{"keys": []}',
      "folder/openapi.yaml": 'openapi: 3.0.0\ninfo: {title: a, version: "1"}\npaths: {}\n',
      "folder/opencode.json": '{"mcp": {"local": {"type": "local"}}}',
    };
    const { findings, program } = checkInput(["folder"], memoryHost(files), false);
    expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(program).toBeDefined();
  });

  it("a duplicate does not hide the other mistakes of the file", () => {
    const text = `binds:
  - port: 3000
    port: 3001
    listeners:
      - routes:
          - policies: {authorization: {rules: ["1 +"]}}
            backends: [{host: "a:1"}]
          - hst: a
`;
    expect(said({ "a.yaml": text })).toEqual([
      'duplicate-key at 3:5: "port" is given twice in the same mapping',
      "cel-syntax at 6:52: the expression is not valid CEL: nothing follows `+`",
      'unknown-field at 8:13: routes[1] has no field "hst"',
    ]);
  });

  it("a file of a folder that can't be read does not hide the mistakes of the others", () => {
    const files = {
      "all/gateway.yaml":
        'binds: [{port: 3000, listeners: [{routes: [{hst: a, backends: [{host: "a:1"}]}]}]}]',
      "all/broken.yaml": "a: [\n",
    };
    const { findings, program } = checkInput(["all"], memoryHost(files), false);
    expect(program).toBeUndefined();
    expect(findings.map(({ code, location }) => `${code} ${location.path}`)).toEqual([
      "yaml-syntax all/broken.yaml",
      "unknown-field all/gateway.yaml",
    ]);
  });

  it("manifests next to an unreadable file are checked for shapes only: the file may define what they name", () => {
    const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec: {parentRefs: [{name: gone}], rules: [{backendRefs: [{name: gone, prt: 1}]}]}
`;
    const files = { "all/route.yaml": route, "all/broken.yaml": "a: [\n" };
    const { findings } = checkInput(["all"], memoryHost(files), false);
    expect(findings.map(({ code, location }) => `${code} ${location.path}`)).toEqual([
      "yaml-syntax all/broken.yaml",
      "unknown-field all/route.yaml",
    ]);
  });

  it("a file of the disk may be UTF-16, and of other bytes the first is marked", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gwc-test-"));
    const file = path.join(folder, "gateway.yaml");
    const checked = (bytes: Buffer) => {
      writeFileSync(file, bytes);
      const { findings } = checkInput([file], realHost({}), false);
      return findings.map(({ code, location: { line, column } }) => `${code} at ${line}:${column}`);
    };
    const text = 'binds: [{port: 3000, listeners: [{routes: [{backends: [{host: "a:1"}]}]}]}]';
    expect(checked(Buffer.from(`\uFEFF${text}`, "utf16le"))).toEqual([]);
    expect(checked(Buffer.from(`\uFEFF${text}`, "utf16le").swap16())).toEqual([]);
    expect(checked(Buffer.from(`\uFEFF${text}`, "utf8"))).toEqual([]);
    expect(checked(Buffer.from(`# \u00FCber\n${text}`, "latin1"))).toEqual(["not-utf8 at 1:3"]);
    rmSync(folder, { recursive: true });
  });

  it("text that is no YAML is refused at the bracket that nothing closes", () => {
    const [first] = said({ "a.yaml": "binds: [\n\u0000\u0001}{" });
    expect(first).toBe("yaml-syntax at 1:8: this is not valid YAML: this [ is not closed");
    const flow = "binds: [{ port: 3000, listeners: [{ name: 'a}', routes: [{ name: b }] }] # }]\n";
    expect(said({ "a.yaml": flow })[0]).toMatch(/^yaml-syntax at 1:9: .*this \{ is not closed/);
  });
});

describe("input made to exhaust the reader", () => {
  it("an alias bomb is refused without being expanded", () => {
    const levels = Array.from(
      { length: 30 },
      (_, level) =>
        `a${level}: &a${level} [${Array(10)
          .fill(level === 0 ? "x" : `*a${level - 1}`)
          .join(", ")}]`,
    );
    expect(said({ "bomb.yaml": `${levels.join("\n")}\n` })).toEqual([
      "alias-bomb at 2:10: aliases in this document expand to more than 200000 nodes",
    ]);
  });

  it("an alias inside its own anchor is refused", () => {
    expect(said({ "loop.yaml": "binds: &all\n  - *all\n" })).toEqual([
      "alias-bomb at 2:5: aliases in this document expand to more than 200000 nodes",
    ]);
  });

  it("an expression that is too long or too deep is refused", () => {
    const long = said({ "a.yaml": withRule(`"${"x".repeat(17_000)}" == request.path`) });
    expect(long).toEqual([expect.stringMatching(/^(out-of-range|cel-too-long) at 1:/)]);
    const deep = said({
      "a.yaml": withRule(`${"!(".repeat(150)}request.path == ""${")".repeat(150)}`),
    });
    expect(deep).toEqual([expect.stringMatching(/^cel-too-deep at 1:/)]);
  });
});

describe("what a report may show", () => {
  it("the value of a variable is never part of a message", () => {
    const text = `binds: [{port: 3000, listeners: [{protocol: "\${SECRET}", name: "\${SECRET}", routes: []}]}]`;
    const host = memoryHost({ "a.yaml": text }, { SECRET: "hunter2" });
    const { findings } = checkInput(["a.yaml"], host, false);
    expect(findings.map(({ code }) => code)).toContain("unknown-value");
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });
});
