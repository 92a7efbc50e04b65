import { expect, it } from "vitest";
import {
  ApplyWorkspaceEditRequest,
  CodeActionRequest,
  CodeLensRequest,
  ExecuteCommandRequest,
  InlayHintRequest,
  SemanticTokensRequest,
} from "vscode-languageserver-protocol";
import { Editor } from "../harness/editor.ts";
import { gwc } from "../harness/gwc.ts";

const FILE = `gateways:
  default:
    port: 3000
routes:
  - name: tools
    policies:
      mcpAuthorization:
        rules:
          - mcp.tool.name == "echo"
          - mcp.tool.name.startsWith("get-")
          - deny: mcp.tool.name == "get-env"
    backends:
      - mcp:
          targets:
            - name: everything
              mcp: { host: "http://127.0.0.1:3001/mcp" }
`;
const TEST = `servers:
  everything: { tools: [echo, get-env, get-sum, delete-all] }
tests:
  - name: the environment is denied
    tool: get-env
    expect: { allowed: false }
  - name: nobody deletes
    tool: delete-all
    expect: { allowed: true }
`;

const whole = (text: string) => ({
  start: { line: 0, character: 0 },
  end: { line: text.split("\n").length, character: 0 },
});

it("a route's rules show how many of the known tools they allow", async () => {
  const editor = await Editor.start({ "access.test.yaml": TEST });
  await editor.open("gateway.yaml", FILE);
  const hints = await editor.connection.sendRequest(InlayHintRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
    range: whole(FILE),
  });
  expect(hints?.map(({ label, position }) => [label, position.line])).toEqual([
    ["allows 2 of 4 tools", 6],
  ]);
});

it("a lens of a route says who can call its tools", async () => {
  const editor = await Editor.start({ "access.test.yaml": TEST });
  await editor.open("gateway.yaml", FILE);
  const lenses = await editor.connection.sendRequest(CodeLensRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
  });
  const who = lenses?.find(({ command }) => command?.title === "who can call");
  expect(who?.range.start.line).toBe(4);
  const text = await editor.connection.sendRequest(ExecuteCommandRequest.type, {
    command: who?.command?.command ?? "",
    arguments: who?.command?.arguments ?? [],
  });
  expect(text).toContain("who may use tool echo");
  expect(text).toMatch(/who may use tool get-env\n\n.*: nobody/);
});

it("a lens of a route opens its generated code", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", FILE);
  const lenses = await editor.connection.sendRequest(CodeLensRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
  });
  const open = lenses?.find(({ command }) => command?.title === "open generated code");
  const text = await editor.connection.sendRequest(ExecuteCommandRequest.type, {
    command: open?.command?.command ?? "",
    arguments: open?.command?.arguments ?? [],
  });
  expect(text).toContain("export function tools(exchange: Exchange)");
});

it("a lens of a test file runs its tests, and a failed one is a diagnostic until the next change", async () => {
  const editor = await Editor.start({ "gateway.yaml": FILE });
  await editor.open("access.test.yaml", TEST);
  expect(await editor.diagnostics("access.test.yaml")).toEqual([]);
  const lenses = await editor.connection.sendRequest(CodeLensRequest.type, {
    textDocument: { uri: editor.uri("access.test.yaml") },
  });
  const [run] = lenses ?? [];
  const summary = await editor.connection.sendRequest(ExecuteCommandRequest.type, {
    command: run?.command?.command ?? "",
    arguments: run?.command?.arguments ?? [],
  });
  expect(summary).toBe("access.test.yaml: 1 passed, 1 failed");
  const found = await editor.diagnosticsWhere("access.test.yaml", ({ length }) => length > 0);
  expect(found.map(({ range }) => range.start.line)).toEqual([8]);
  await editor.change("access.test.yaml", TEST.replace("allowed: true", "allowed: false"));
  await editor.diagnosticsWhere("access.test.yaml", ({ length }) => length === 0);
});

it.each([
  ["a misspelled field", FILE.replace("port:", "prot:"), "port"],
  ["a misspelled word", FILE.replace("port: 3000", "port: 3000\n    protocol: HTP"), "HTTP"],
  [
    "a misspelled variable",
    FILE.replace('mcp.tool.name == "echo"', 'mcp.tool.nam == "echo"'),
    "name",
  ],
  [
    "a wildcard in a comparison",
    FILE.replace('mcp.tool.name == "echo"', `'mcp.tool.name == "echo*"'`),
    'mcp.tool.name.startsWith("echo")',
  ],
])("%s has an action that corrects it", async (_, text, correction) => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", text);
  const [found] = await editor.diagnostics("gateway.yaml");
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
    range: found?.range ?? whole(text),
    context: { diagnostics: [] },
  });
  const [action] = actions ?? [];
  expect(action?.title).toBe(`Write ${correction}`);
  const [edit] =
    (action && "edit" in action && action.edit?.changes?.[editor.uri("gateway.yaml")]) || [];
  const offset = (at: { readonly line: number; readonly character: number }) =>
    text.split("\n").slice(0, at.line).join("\n").length + 1 + at.character;
  if (edit === undefined) throw new Error("it has no edit");
  await editor.edit("gateway.yaml", offset(edit.range.start), offset(edit.range.end), edit.newText);
  expect(await editor.diagnostics("gateway.yaml")).toEqual([]);
});

it("a comparison that a correction would negate has no action", async () => {
  const text = FILE.replace('mcp.tool.name == "echo"', `'mcp.tool.name != "echo*"'`);
  const editor = await Editor.start();
  await editor.open("gateway.yaml", text);
  expect(await editor.diagnostics("gateway.yaml")).toHaveLength(1);
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
    range: whole(text),
    context: { diagnostics: [] },
  });
  expect(actions).toEqual([]);
});

it("a diagnostic whose hint names no text has no action", async () => {
  const text = FILE.replace("3000", "70000");
  const editor = await Editor.start();
  await editor.open("gateway.yaml", text);
  const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
    range: whole(text),
    context: { diagnostics: [] },
  });
  expect(actions).toEqual([]);
});

it("expressions have semantic tokens", async () => {
  const editor = await Editor.start();
  await editor.open("gateway.yaml", FILE);
  const tokens = await editor.connection.sendRequest(SemanticTokensRequest.type, {
    textDocument: { uri: editor.uri("gateway.yaml") },
  });
  const { tokenTypes } = { tokenTypes: ["variable", "property", "function", "string"] };
  const data = tokens?.data ?? [];
  const first = data.slice(0, 20);
  const types = [3, 8, 13, 18].map((index) => tokenTypes[first[index] ?? -1]);
  // mcp . tool . name == "echo"
  expect(types).toEqual(["variable", "property", "property", "string"]);
  expect(first.slice(0, 3)).toEqual([8, 12, 3]);
});

it("a rule gets a test that it decides, and that passes", async () => {
  const editor = await Editor.start({ "gateway.yaml": FILE });
  const edits = editsOf(editor);
  await editor.open("gateway.yaml", FILE);
  for (const line of [9, 10]) {
    const position = { line, character: 20 };
    const actions = await editor.connection.sendRequest(CodeActionRequest.type, {
      textDocument: { uri: editor.uri("gateway.yaml") },
      range: { start: position, end: position },
      context: { diagnostics: [] },
    });
    const add = actions?.find(({ title }) => title === "Add a test of this rule");
    const { command = "", arguments: given = [] } = Object(add?.command);
    const shown = await editor.connection.sendRequest(ExecuteCommandRequest.type, {
      command,
      arguments: given,
    });
    expect(shown).toContain("added to access.test.yaml");
    editor.workspace.write("access.test.yaml", edits.at(-1) ?? "");
  }
  expect(edits.at(-1)).toMatchInlineSnapshot(`
    "servers:
      everything:
        tools: [ get-x, get-env ]
    tests:
      - name: anyone may use get-x
        tool: get-x
        route: tools
        expect:
          allowed: true
          rule: mcp.tool.name.startsWith("get-")
      - name: nobody may use get-env
        tool: get-env
        route: tools
        expect:
          allowed: false
          rule: mcp.tool.name == "get-env"
    "
  `);
  const { code, stderr } = await gwc(["test", "-f", editor.workspace.path("gateway.yaml")]);
  expect(stderr).toContain("2 passed");
  expect(code).toBe(0);
});

it("a new test keeps what is in the test file, and a rule that needs more than a name gets none", async () => {
  const conditional = FILE.replace('"get-env"', '"get-env" && mcp.tool.arguments.path == "/x"');
  const editor = await Editor.start({
    "gateway.yaml": conditional,
    "access.test.yaml": `# Ours.\n${TEST}`,
  });
  const edits = editsOf(editor);
  await editor.open("gateway.yaml", conditional);
  const add = (line: number) =>
    editor.connection.sendRequest(ExecuteCommandRequest.type, {
      command: "gwc.addTest",
      arguments: [
        editor.workspace.path("gateway.yaml"),
        conditional.split("\n").slice(0, line).join("\n").length + 20,
      ],
    });
  expect(await add(10)).toContain("no request was found");
  expect(edits).toEqual([]);
  expect(await add(8)).toContain("added to");
  expect(edits[0]).toContain("# Ours.\n");
  expect(edits[0]).toContain("nobody deletes");
  expect(edits[0]).toContain("may use echo");
});

/** The texts that the server writes into files. */
function editsOf(editor: Editor): string[] {
  const texts: string[] = [];
  editor.connection.onRequest(ApplyWorkspaceEditRequest.type, ({ edit }) => {
    for (const change of edit.documentChanges ?? [])
      if ("edits" in change)
        texts.push(...change.edits.flatMap((each) => ("newText" in each ? each.newText : [])));
    return { applied: true };
  });
  return texts;
}
