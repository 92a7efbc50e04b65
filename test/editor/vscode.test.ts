import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { writeExtension } from "../../compiler/package/write-extension.ts";
import { startBrowser } from "../harness/browser.ts";
import { executable } from "../harness/gwc.ts";
import { EXTENSIONS, startEditor } from "../harness/vscode.ts";
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

/** Opens a file by the list of the explorer. */
async function openFile(page: Page, name: string): Promise<void> {
  await page.locator(`.explorer-folders-view [aria-label="${name}"]`).dblclick();
  await page.locator(".monaco-editor .view-line").first().waitFor();
}

it("Visual Studio Code shows lenses, hints, mistakes and who may use tools, in read-only documents", async () => {
  const workspace = new Workspace({ "gateway.yaml": CONFIG, "access.test.yaml": TESTS });
  await writeExtension(workspace.path(`${EXTENSIONS}/gwc.gwc-0.1.0`));
  const settings = { "gwc.command": [process.execPath, executable] };
  const address = await startEditor(workspace, settings);
  const page = await (await startBrowser()).newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(address);
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
