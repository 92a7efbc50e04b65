import { spawn } from "node:child_process";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { writeExtension } from "../../compiler/package/write-extension.ts";
import { atEnd } from "../harness/at-end.ts";
import { startBrowser } from "../harness/browser.ts";
import { executable } from "../harness/gwc.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

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
const TESTS = "servers: { everything: { tools: [echo, add] } }\ntests: []\n";
/** Starts Visual Studio Code as a server with the extension; resolves with its address. */
async function startEditor(workspace: Workspace): Promise<string> {
  const extensions = workspace.path(".editor/extensions");
  await writeExtension(path.join(extensions, "gwc.gwc-0.1.0"));
  const settings = {
    "gwc.command": [process.execPath, executable],
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
  };
  workspace.write(".editor/data/User/settings.json", JSON.stringify(settings));
  const argv = [
    ...["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry"],
    ...["--disable-update-check", "--user-data-dir", workspace.path(".editor/data")],
    ...["--extensions-dir", extensions, workspace.folder],
  ];
  const child = spawn(program("code-server"), argv, {
    env: { ...process.env, HOME: workspace.path(".editor") },
    detached: true,
  });
  // Its servers are children of the process that is started.
  atEnd(() => process.kill(-(child.pid ?? 0), "SIGKILL"));
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
      const address = /listening on (http:\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.on("exit", () => reject(new Error(said)));
  });
}

/** Opens a file by the list of the explorer. */
async function openFile(page: Page, name: string): Promise<void> {
  await page.locator(`.explorer-folders-view [aria-label="${name}"]`).dblclick();
  await page.locator(".monaco-editor .view-line").first().waitFor();
}

it("Visual Studio Code shows lenses, hints, mistakes and who may use tools, in read-only documents", async () => {
  const workspace = new Workspace({ "gateway.yaml": CONFIG, "access.test.yaml": TESTS });
  const address = await startEditor(workspace);
  const page = await (await startBrowser()).newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(`${address}?folder=${workspace.folder}`);
  await openFile(page, "gateway.yaml");
  const who = page.locator('.codelens-decoration a:text-is("who can call")');
  await who.waitFor();
  await page.locator('.view-line:has-text("allows 1 of 2 tools")').waitFor();

  await who.click();
  await page.locator('.view-line:has-text("who may use tool add")').waitFor();
  expect(await page.locator(".tab.dirty").count()).toBe(0);

  await page.locator('.view-line:has-text("port:")').first().click();
  await page.keyboard.press("End");
  await page.keyboard.type("x");
  await page.locator(".squiggly-error").first().waitFor();
}, 600_000);
