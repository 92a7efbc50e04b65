import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import {
  CancellationTokenSource,
  CodeActionRequest,
  CompletionRequest,
  DidChangeTextDocumentNotification,
  DidChangeWatchedFilesNotification,
  DidChangeWorkspaceFoldersNotification,
  DidOpenTextDocumentNotification,
  DocumentSymbolRequest,
  FileChangeType,
  HoverRequest,
  type Range,
} from "vscode-languageserver-protocol";
import { Editor } from "../harness/editor.ts";

const CONFIG = `gateways:
  default:
    port: 3000
routes:
  - name: tools
    policies:
      mcpAuthorization:
        rules:
          - mcp.tool.name == "echo"
    backends:
      - mcp: { targets: [{ name: everything, mcp: { host: "http://127.0.0.1:9/mcp" } }] }
`;
const WRONG = CONFIG.replace("port", "prot");
const WRONG_AT = { start: { line: 2, character: 4 }, end: { line: 2, character: 8 } };

/** The code and range of the only diagnostic. */
async function onlyDiagnostic(editor: Editor, name = "gateway.yaml"): Promise<unknown> {
  const found = await editor.diagnostics(name);
  return found.length === 1 ? { code: found[0]?.code, range: found[0]?.range } : found;
}

it.each([
  ...["untitled:Untitled-1", "git:/a/gateway.yaml?ref", "", "file://server/share/gateway.yaml"],
  ...["file:///tmp/%zz/gateway.yaml", "file:///a%2Fgateway.yaml", "file:///a/%00/gateway.yaml"],
])("a document at %j is left alone, and others keep their diagnostics", async (uri) => {
  const editor = await Editor.start({});
  const textDocument = { uri, languageId: "yaml", version: 1, text: WRONG };
  await editor.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  const about = { textDocument: { uri }, position: WRONG_AT.start };
  expect(await editor.connection.sendRequest(HoverRequest.type, about)).toBeNull();
  await editor.open("gateway.yaml", WRONG);
  expect(await onlyDiagnostic(editor)).toEqual({ code: "unknown-field", range: WRONG_AT });
});

it.each<[string, Range]>([
  ["after the end", { start: { line: 900, character: 5 }, end: { line: 999, character: 9 } }],
  ["before the start", { start: { line: -1, character: -4 }, end: { line: -1, character: -1 } }],
  [
    "from the end to the start",
    { start: { line: 3, character: 0 }, end: { line: 2, character: 0 } },
  ],
  [
    "longer than a line",
    { start: { line: 2, character: 2 ** 31 - 1 }, end: { line: 3, character: 0 } },
  ],
])("an edit and questions %s are responded to", async (_, range) => {
  const editor = await Editor.start({});
  await editor.open("gateway.yaml", CONFIG);
  const textDocument = { uri: editor.uri("gateway.yaml"), version: 2 };
  const contentChanges = [{ range, text: "#x\n" }];
  await editor.connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument,
    contentChanges,
  });
  const about = { textDocument, position: range.start };
  await editor.connection.sendRequest(HoverRequest.type, about);
  await editor.connection.sendRequest(CompletionRequest.type, about);
  // Its version is that of the edit; the next one is later.
  await editor.change("gateway.yaml", WRONG);
  await editor.change("gateway.yaml", CONFIG);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
});

it.each([
  ["carriage returns and line feeds", WRONG.replaceAll("\n", "\r\n"), 2],
  ["a carriage return in a comment, which ends a line for editors", `# a\rb\n${WRONG}`, 4],
  ["a byte order mark", `\uFEFF${WRONG}`, 2],
  ["characters outside the basic plane", `# 😀\n${WRONG}`, 3],
])("a diagnostic is at its place in a file with %s", async (_, text, line) => {
  const editor = await Editor.start({});
  await editor.open("gateway.yaml", text);
  const range = { start: { ...WRONG_AT.start, line }, end: { ...WRONG_AT.end, line } };
  expect(await onlyDiagnostic(editor)).toEqual({ code: "unknown-field", range });
});

it("columns count UTF-16 code units", async () => {
  const editor = await Editor.start({});
  await editor.open("gateway.yaml", CONFIG.replace('== "echo"', '== "😀" + 1'));
  const [found] = await editor.diagnostics("gateway.yaml");
  const start = { line: 8, character: "          - mcp.tool.name == ".length };
  const end = { line: 8, character: start.character + '"😀" + 1'.length };
  expect(found).toMatchObject({ code: "cel-no-overload", range: { start, end } });
});

it("a key set that vanishes is a mistake, and a configuration that vanishes has no more diagnostics", async () => {
  const files = { "keys.json": '{"keys":[]}', "gateway.yaml": CONFIG };
  const editor = await Editor.start(files);
  const jwt = "jwtAuth: { issuer: https://i.example, audiences: [a], jwks: { file: ./keys.json } }";
  const text = CONFIG.replace("policies:", `policies:\n      ${jwt}`);
  await editor.open("gateway.yaml", text);
  await editor.diagnostics("gateway.yaml");
  const vanish = async (name: string) => {
    rmSync(editor.workspace.path(name));
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: editor.uri(name), type: FileChangeType.Deleted }],
    });
  };
  await vanish("keys.json");
  const isMissing = (found: readonly { code?: unknown }[]) =>
    found.some(({ code }) => code === "file-not-found");
  expect(await editor.diagnosticsWhere("gateway.yaml", isMissing)).toHaveLength(1);
  await vanish("gateway.yaml");
  await editor.close("gateway.yaml");
  const isEmpty = (found: readonly unknown[]) => found.length === 0;
  expect(await editor.diagnosticsWhere("gateway.yaml", isEmpty)).toEqual([]);
});

const GATEWAY = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge }
spec: { gatewayClassName: gwc, listeners: [{ name: http, port: 80, protocol: HTTP }] }
`;
const ROUTE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: site }
spec: { parentRefs: [{ name: egde }], rules: [{ backendRefs: [{ name: site, port: 80 }] }] }
---
apiVersion: v1
kind: Service
metadata: { name: site }
spec: { ports: [{ port: 80 }] }
`;

it("each folder of a workspace has the configured inputs, also one that is added", async () => {
  const folders = ["one", "with spaces, # and %", "added"];
  const files = folders.map((name) => [`${name}/manifests/a/gateway.yaml`, GATEWAY]);
  const editor = await Editor.start(
    Object.fromEntries(files),
    { inputs: ["manifests"] },
    folders.slice(0, 2),
  );
  const added = folders.slice(2).map((name) => ({ uri: editor.uri(name), name }));
  await editor.connection.sendNotification(DidChangeWorkspaceFoldersNotification.type, {
    event: { added, removed: [] },
  });
  for (const folder of folders) {
    const name = `${folder}/manifests/b/route.yaml`;
    await editor.open(name, ROUTE);
    const [found, ...more] = await editor.diagnostics(name);
    expect(more, folder).toEqual([]);
    expect(found?.message, folder).toContain('did you mean "edge"?');
  }
});

it("requests that are cancelled before their turn are not worked on", async () => {
  const editor = await Editor.start({});
  const routes = Array.from(
    { length: 1000 },
    (_, index) => `  - name: r${index}
    matches: [{ path: { pathPrefix: /r${index} } }]
    backends: [{ host: 127.0.0.1:9 }]
`,
  );
  await editor.open("gateway.yaml", CONFIG.replace("routes:\n", `routes:\n${routes.join("")}`));
  const textDocument = { uri: editor.uri("gateway.yaml") };
  const source = new CancellationTokenSource();
  // The first of them checks the configuration, and the others wait.
  const outcomes = Array.from({ length: 50 }, () =>
    editor.connection
      .sendRequest(
        CodeActionRequest.type,
        { textDocument, range: WRONG_AT, context: { diagnostics: [] } },
        source.token,
      )
      .then(
        () => "done",
        (error: { code?: number }) => error.code,
      ),
  );
  source.cancel();
  expect(await Promise.all(outcomes)).toContain(-32_800);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
});

it.each([
  ["a line of two million characters", CONFIG.replace("tools", "x".repeat(2_000_000))],
  [
    "twenty thousand unknown keys",
    CONFIG + Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`).join(""),
  ],
  ["twenty thousand open brackets", `${CONFIG}x: ${"[".repeat(20_000)}`],
  [
    "a rule of five thousand comparisons",
    CONFIG.replace('"echo"', `"e"${' || mcp.tool.name == "e"'.repeat(5000)}`),
  ],
  [
    "no YAML at all",
    String.fromCharCode(...Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 65_536)),
  ],
])("a document with %s is responded to", async (_, text) => {
  const editor = await Editor.start({});
  await editor.open("gateway.yaml", text);
  const textDocument = { uri: editor.uri("gateway.yaml") };
  const lines = text.split("\n");
  const line = lines.findIndex(
    (each) => each.length === Math.max(...lines.map((one) => one.length)),
  );
  const position = { line, character: lines[line]?.length ?? 0 };
  await editor.diagnostics("gateway.yaml");
  await editor.connection.sendRequest(HoverRequest.type, { textDocument, position });
  await editor.connection.sendRequest(CompletionRequest.type, { textDocument, position });
  await editor.connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
  await editor.change("gateway.yaml", CONFIG);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
});
