import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ExecuteCommandRequest } from "vscode-languageserver-protocol";
import { writeExtension } from "../../compiler/package/write-extension.ts";
import { panelPage } from "../../templates/editor/vscode/panel-page.ts";
import { gwcCommand } from "../../templates/editor/vscode/server-command.ts";
import { Editor } from "../harness/editor.ts";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const sources = path.join(root, "templates", "editor", "vscode");

describe("the extension of Visual Studio Code", () => {
  it("has types that fit those of its host", () => {
    execFileSync("tsc", ["-p", sources], { cwd: root, stdio: "inherit" });
  });

  it("is packaged as a module that needs nothing but Node.js and its host", async () => {
    const folder = temporaryFolder();
    await writeExtension(folder);
    const code = readFileSync(path.join(folder, "extension.cjs"), "utf8");
    const required = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) =>
      name.replace(/^node:/, ""),
    );
    const others = required.filter((name) => name !== "vscode" && !builtinModules.includes(name));
    expect([...new Set(others)]).toEqual([]);
  });

  it("registers the commands that its manifest names", () => {
    const manifest = JSON.parse(readFileSync(path.join(sources, "package.json"), "utf8"));
    const code = readFileSync(path.join(sources, "extension.ts"), "utf8");
    const registered = [...code.matchAll(/registerCommand\("([\w.]+)"/g)].map(([, name]) => name);
    const named = manifest.contributes.commands.map((each: { command: string }) => each.command);
    expect(registered.toSorted()).toEqual(named.toSorted());
  });

  it("starts the gwc of the workspace, or the configured one", () => {
    const file = "node_modules/gwc/compiler/gwc.mjs";
    const folder = temporaryFolder({ [file]: "" });
    expect(gwcCommand([], [folder])).toEqual({ command: "node", args: [path.join(folder, file)] });
    expect(gwcCommand(["npx", "gwc"], [folder])).toEqual({ command: "npx", args: ["gwc"] });
    expect(gwcCommand([], [])).toEqual({ command: "gwc", args: [] });
  });

  it("shows names of a configuration in its panel as text", () => {
    const page = panelPage({ route: "<script>", access: "a & b", graph: "<svg/>" });
    expect(page).not.toContain("<script>");
    expect(page).toContain("a &#38; b");
    expect(page).toContain("default-src 'none'");
  });
});

it("the overview of a line has its route, the access to it, and the graph", async () => {
  const text = `gateways:
  default:
    port: 3000
routes:
  - name: site
    backends:
      - host: 127.0.0.1:1
  - name: tools
    matches: [{ path: { pathPrefix: /mcp } }]
    policies:
      mcpAuthorization:
        rules:
          - mcp.tool.name == "echo"
    backends:
      - mcp:
          targets:
            - name: everything
              mcp: { host: "http://127.0.0.1:3001/mcp" }
`;
  const tests = "servers: { everything: { tools: [echo] } }\ntests: []\n";
  const editor = await Editor.start({ "access.test.yaml": tests });
  await editor.open("gateway.yaml", text);
  const ask = (line: number) =>
    editor.connection.sendRequest(ExecuteCommandRequest.type, {
      command: "gwc.overview",
      arguments: [editor.workspace.path("gateway.yaml"), line],
    });
  const tools = await ask(9);
  expect(tools.route).toBe("tools");
  expect(tools.access).toContain("who may use tool echo");
  expect(tools.graph).toContain("<svg");
  expect((await ask(0)).route).toBeUndefined();
});
