import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { startBrowser } from "../../harness/browser.ts";
import { eventually } from "../../harness/eventually.ts";
import { root } from "../../harness/root.ts";
import { EXTENSIONS, startEditor } from "../../harness/vscode.ts";
import { Workspace } from "../../harness/workspace.ts";
import { APP_URI, ASKING_TOOL } from "./nine-servers.ts";
import type { Trial, TryClient } from "./trial.ts";

const EXTENSION = `${EXTENSIONS}/gwc.matrix-0.0.1`;
const MANIFEST = {
  ...{ name: "matrix", publisher: "gwc", version: "0.0.1", main: "./extension.cjs" },
  ...{ engines: { vscode: "^1.100.0" }, activationEvents: ["onStartupFinished"] },
};

/** Tries the client of Visual Studio Code, by an extension that calls tools as a model would. */
export const tryVsCode: TryClient = async (url, calls) => {
  const script = readFileSync(path.join(root, "test/mcp/fixtures/vscode-client.cjs"), "utf8");
  const workspace = new Workspace({
    "calls.json": JSON.stringify({ calls, asking: ASKING_TOOL, app: APP_URI }),
    ".editor/data/User/mcp.json": JSON.stringify({ servers: { gateway: { type: "http", url } } }),
    [`${EXTENSION}/package.json`]: JSON.stringify(MANIFEST),
    [`${EXTENSION}/extension.cjs`]: script,
  });
  const address = await startEditor(workspace, { "chat.tools.global.autoApprove": true });
  const page = await (await startBrowser()).newPage({ viewport: { width: 1400, height: 900 } });
  await page.goto(address);
  // The editor asks whether it may call tools without questions.
  await page.getByRole("button", { name: "Enable", exact: true }).click();
  await page.getByRole("button", { name: "Respond" }).click();
  await page.locator(".quick-input-widget input").first().waitFor();
  await page.keyboard.type("Ada");
  await page.keyboard.press("Enter");
  const file = workspace.path("found.json");
  await eventually(() => (existsSync(file) ? true : null), "the results of the editor");
  const found: Trial & { readonly error?: string } = JSON.parse(readFileSync(file, "utf8"));
  if (found.error !== undefined) throw new Error(found.error);
  return found;
};
