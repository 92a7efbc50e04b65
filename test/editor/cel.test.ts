import { expect, it } from "vitest";
import { SignatureHelpRequest } from "vscode-languageserver-protocol";
import { Editor } from "../harness/editor.ts";

const file = (policies: string) => `gateways:
  default:
    port: 3000
routes:
  - name: tools
    policies:
${policies}
    backends:
      - mcp:
          targets:
            - name: everything
              mcp: { host: "http://127.0.0.1:3001/mcp" }
`;
const mcpRule = (rule: string) =>
  file(`      mcpAuthorization:\n        rules:\n          - ${rule}`);
const labels = async (editor: Editor, text: string) =>
  (await editor.completions("gateway.yaml", text)).map(({ label }) => label);

it("an empty rule offers the variables of its phase and the functions", async () => {
  const editor = await Editor.start();
  const ofMcp = await labels(editor, mcpRule("|"));
  expect(ofMcp).toEqual(expect.arrayContaining(["mcp", "jwt", "request", "size", "has"]));
  const ofRequest = await labels(
    editor,
    file("      authorization:\n        rules:\n          - |"),
  );
  expect(ofRequest).toContain("request");
  expect(ofRequest).not.toContain("mcp");
});

it("a variable offers its members", async () => {
  const editor = await Editor.start();
  expect(await labels(editor, mcpRule("mcp.|"))).toEqual(
    expect.arrayContaining(["tool", "prompt"]),
  );
  expect(await labels(editor, mcpRule("mcp.tool.na|"))).toContain("name");
});

it("a string offers methods of strings", async () => {
  const editor = await Editor.start();
  const found = await labels(editor, mcpRule("mcp.tool.name.|"));
  expect(found).toEqual(expect.arrayContaining(["startsWith", "contains"]));
  expect(found).not.toContain("getFullYear");
});

it("claims that tests use are offered", async () => {
  const test = `tests:
  - name: a
    as: { jwt: { sub: x, department: it } }
    tool: echo
    expect: { allowed: true }
`;
  const editor = await Editor.start({ "access.test.yaml": test });
  expect(await labels(editor, mcpRule("jwt.|"))).toContain("department");
});

it("names of servers, and of tools in tests, are offered in strings", async () => {
  const test = "servers: { everything: { tools: [echo, get-env] } }\ntests: []\n";
  const editor = await Editor.start({ "access.test.yaml": test });
  const servers = await labels(editor, mcpRule(`'mcp.tool.target == "|"'`));
  expect(servers).toEqual(["everything"]);
  const tools = await labels(editor, mcpRule(`'mcp.tool.name == "|"'`));
  expect(tools).toEqual(["echo", "get-env"]);
});

it("members are offered in a block of several lines", async () => {
  const editor = await Editor.start();
  const rule = '>-\n            jwt.sub == "x" &&\n            mcp.tool.|';
  expect(await labels(editor, mcpRule(rule))).toContain("name");
});

it("a variable and a function show their documentation", async () => {
  const editor = await Editor.start();
  const rule = (text: string) => mcpRule(`'${text}'`);
  expect(await editor.hover("gateway.yaml", rule('mcp.tool.na|me == "a"'))).toContain(
    "mcp.tool.name: string",
  );
  const hover = await editor.hover("gateway.yaml", rule('mcp.tool.name.starts|With("a")'));
  expect(hover).toContain("string.startsWith(string): bool");
  expect(await editor.hover("gateway.yaml", rule("ha|s(jwt.sub)"))).toContain("has(a.b)");
});

it("the arguments of a function show its signatures", async () => {
  const editor = await Editor.start();
  const help = await editor.ask(
    SignatureHelpRequest.type,
    "gateway.yaml",
    mcpRule(`'mcp.tool.name.substring(1, |'`),
    {},
  );
  expect(help?.signatures.map(({ label }) => label)).toEqual([
    "string.substring(int): string",
    "string.substring(int, int): string",
  ]);
  expect(help?.activeSignature).toBe(1);
  expect(help?.activeParameter).toBe(1);
});
