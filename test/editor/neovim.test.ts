import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { executable } from "../harness/gwc.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

/** Opens a file in Neovim with `gwc lsp`, runs Lua, and returns the value of the last statement. */
async function inNeovim(workspace: Workspace, file: string, lua: string): Promise<unknown> {
  const script = workspace.write(
    "test.lua",
    `
vim.cmd("edit " .. ${JSON.stringify(file)})
vim.bo.filetype = "yaml"
local client = vim.lsp.start_client({
  name = "gwc",
  cmd = { ${JSON.stringify(process.execPath)}, ${JSON.stringify(executable)}, "lsp" },
  root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, client)
local function waitFor(isGood)
  assert(vim.wait(60000, isGood, 20), "waited in vain")
end
waitFor(function() return #vim.lsp.buf_get_clients(0) > 0 and vim.lsp.get_client_by_id(client).initialized end)
local function ask(method, line, character)
  local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = character } }
  local found = vim.lsp.buf_request_sync(0, method, params, 60000)
  return found[client].result
end
local isDone, found = pcall(function()
${lua}
end)
vim.fn.writefile({ vim.json.encode({ isDone = isDone, found = found }) }, "found.json")
vim.cmd("qall!")
`,
  );
  const options = { cwd: workspace.folder, env: { ...process.env, HOME: workspace.folder } };
  const parameters = ["--headless", "--clean", "-n", "-c", `luafile ${script}`];
  await promisify(execFile)(program("nvim"), parameters, options);
  const { isDone, found } = JSON.parse(readFileSync(workspace.path("found.json"), "utf8"));
  if (isDone !== true) throw new Error(found);
  return found;
}

const CONFIG = `gateways:
  default:
    prot: 3000
routes:
  - name: site
    backends:
      - host: 127.0.0.1:8080
`;

it("Neovim shows a diagnostic of an open file, and drops it when the text is corrected", async () => {
  const workspace = new Workspace({ "gateway.yaml": CONFIG });
  const lua = `
waitFor(function() return #vim.diagnostic.get(0) == 1 end)
local found = vim.diagnostic.get(0)[1]
vim.api.nvim_buf_set_lines(0, 2, 3, true, { "    port: 3000" })
waitFor(function() return #vim.diagnostic.get(0) == 0 end)
return { code = found.code, line = found.lnum, column = found.col }`;
  expect(await inNeovim(workspace, "gateway.yaml", lua)).toEqual({
    code: "unknown-field",
    line: 2,
    column: 4,
  });
});

it("Neovim shows the page of a field", async () => {
  const workspace = new Workspace({ "gateway.yaml": CONFIG.replace("prot", "port") });
  const lua = `return ask("textDocument/hover", 2, 5).contents.value`;
  expect(await inNeovim(workspace, "gateway.yaml", lua)).toContain("The TCP port.");
});

it("Neovim completes a field", async () => {
  const workspace = new Workspace({ "gateway.yaml": CONFIG.replace("prot: 3000", "po") });
  const lua = `
local labels = {}
for _, item in ipairs(ask("textDocument/completion", 2, 6)) do table.insert(labels, item.label) end
return labels`;
  expect(await inNeovim(workspace, "gateway.yaml", lua)).toContain("port");
});

const NAMED = `gateways:
  default:
    port: 3000
backends:
  - name: api
    host: 127.0.0.1:8080
routes:
  - name: site
    backends:
      - backend: api
`;

it("Neovim goes to the declaration of a name, and renames all its uses", async () => {
  const workspace = new Workspace({ "gateway.yaml": NAMED });
  const lua = `
local target = ask("textDocument/definition", 9, 18)[1].range.start
local params = vim.tbl_extend("force", {
  textDocument = vim.lsp.util.make_text_document_params(),
  position = { line = 9, character = 18 },
}, { newName = "orders" })
local edit = vim.lsp.buf_request_sync(0, "textDocument/rename", params, 60000)[client].result
vim.lsp.util.apply_workspace_edit(edit, "utf-16")
return { line = target.line, lines = vim.api.nvim_buf_get_lines(0, 0, -1, true) }`;
  expect(await inNeovim(workspace, "gateway.yaml", lua)).toEqual({
    line: 4,
    lines: NAMED.replaceAll("api", "orders").trimEnd().split("\n"),
  });
});

it("Neovim applies the correction of a mistake", async () => {
  const workspace = new Workspace({ "gateway.yaml": CONFIG });
  const lua = `
waitFor(function() return #vim.diagnostic.get(0) == 1 end)
local at = { line = 2, character = 5 }
local params = {
  textDocument = vim.lsp.util.make_text_document_params(),
  range = { start = at, ["end"] = at },
  context = { diagnostics = {} },
}
local action = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 60000)[client].result[1]
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
waitFor(function() return #vim.diagnostic.get(0) == 0 end)
return vim.api.nvim_buf_get_lines(0, 2, 3, true)[1]`;
  expect(await inNeovim(workspace, "gateway.yaml", lua)).toBe("    port: 3000");
});
