import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { freePort } from "../harness/free-port.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { describeUnless } from "../harness/skip.ts";
import { Workspace } from "../harness/workspace.ts";
import { startHealthy } from "../llm/llm-upstream.ts";
import { startAdmin } from "./admin-gateway.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Parts of the page, each with a text that is there as soon as its data is. */
const PARTS: readonly (readonly [part: string, text: string])[] = [
  ["", "Requests per second"],
  ["requests", "/v1/chat/completions"],
  ["routes", "mcpAuthorization"],
  ["graph", "path prefix /mcp"],
  ["access", "any other tool"],
  ["checks", "1.regex"],
  ["changes", "The first version"],
  ["code", "import"],
  ["try", "Path and query"],
  ["tools", "No tools listed yet"],
  ["chat", "Say something"],
  ["usage", "Cost per day"],
  ["keys", "No keys yet"],
];

const SCREENS = [
  { name: "a phone", width: 360, height: 740 },
  { name: "a tablet", width: 800, height: 1000 },
  { name: "a wide screen", width: 1440, height: 900 },
] as const;

describeUnless(missingBrowser)("the admin page", () => {
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    browser = await startBrowser();
    const { url: server } = await startMcpServer();
    const { host } = await startHealthy();
    const port = await freePort();
    const at = (pathPrefix: string) => [{ path: { pathPrefix } }];
    const promptGuard = { request: [{ regex: { action: "mask", rules: [{ builtin: "email" }] } }] };
    const routes = [
      {
        name: "tools",
        matches: at("/mcp"),
        policies: { mcpAuthorization: { rules: ['mcp.tool.name == "hello"'] } },
        backends: [{ mcp: { targets: [{ name: "a", mcp: { host: server } }] } }],
      },
      {
        name: "models",
        matches: at("/v1"),
        policies: { apiKey: { store: true, mode: "optional" } },
        backends: [
          {
            ai: {
              groups: [
                { providers: [{ name: "one", provider: { openAI: {} }, hostOverride: host }] },
              ],
            },
            policies: { ai: { promptGuard } },
          },
        ],
      },
      { name: "status", policies: { directResponse: { status: 200, body: "fine" } } },
    ];
    const any = "127.0.0.1:0";
    const workspace = new Workspace({
      "admin.key": "a-key-of-the-api-for-keys",
      "gateway.yaml": JSON.stringify({
        config: {
          ...{ statsAddr: any, readinessAddr: any, adminAddr: any, usage: {} },
          keysApi: { port: await freePort(), key: { file: "admin.key" } },
        },
        binds: [{ port, listeners: [{ routes }] }],
      }),
    });
    const started = await startAdmin(workspace.path("gateway.yaml"), {
      GWC_STATE_DIR: workspace.folder,
    });
    url = started.url;
    await fetch(`http://127.0.0.1:${port}/status`);
    await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content: "Hello" }] }),
    });
  });

  async function open(page: Page, part: string, text: string): Promise<void> {
    await page.goto(new URL(`/ui/${part}`, url).href);
    await page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  for (const scheme of ["light", "dark"] as const)
    for (const { name, width, height } of SCREENS)
      it(`has no violations of accessibility rules on ${name}, ${scheme}`, async () => {
        const context = await browser.newContext({
          viewport: { width, height },
          colorScheme: scheme,
          // The policy of the page forbids the script of axe.
          bypassCSP: true,
        });
        const page = await context.newPage();
        const found: string[] = [];
        for (const [part, text] of PARTS) {
          await open(page, part, text);
          await page.evaluate(axe);
          const { violations }: AxeResults = await page.evaluate("axe.run()");
          for (const { id, nodes } of violations)
            for (const { html, failureSummary } of nodes)
              found.push(`/${part}: ${id}: ${html.slice(0, 200)}: ${failureSummary}`);
        }
        expect(found).toEqual([]);
        await context.close();
      });

  it("has a login without violations, on every screen and in both colors", async () => {
    const any = "127.0.0.1:0";
    const workspace = new Workspace({
      "admin.key": "a-key-of-the-admin-page",
      "gateway.yaml": JSON.stringify({
        config: {
          ...{ statsAddr: any, readinessAddr: any, adminAddr: any },
          admin: { key: { file: "admin.key" } },
        },
        gateways: { default: { port: await freePort() } },
        routes: [{ name: "a", policies: { directResponse: { status: 200 } } }],
      }),
    });
    const started = await startAdmin(workspace.path("gateway.yaml"));
    for (const colorScheme of ["light", "dark"] as const)
      for (const { width, height } of SCREENS) {
        const viewport = { width, height };
        const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true });
        const page = await context.newPage();
        await page.goto(started.url);
        await page.getByLabel("Key").fill("wrong");
        await page.getByRole("button", { name: "Log in" }).click();
        await page.getByText("The key is wrong.").waitFor();
        await page.evaluate(axe);
        const { violations }: AxeResults = await page.evaluate("axe.run()");
        expect(violations.map(({ id }) => id)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(
          width,
        );
        await page.getByLabel("Key").fill("a-key-of-the-admin-page");
        await page.getByRole("button", { name: "Log in" }).click();
        await page.getByRole("heading", { name: "Overview" }).waitFor();
        await context.close();
      }
  });

  it.each(SCREENS)("has no content that is wider than $name", async ({ width, height }) => {
    const page = await browser.newPage({ viewport: { width, height } });
    const wide: string[] = [];
    for (const [part, text] of PARTS) {
      await open(page, part, text);
      const needed = Number(await page.evaluate("document.documentElement.scrollWidth"));
      if (needed > width) wide.push(`/${part}: ${needed}`);
    }
    expect(wide).toEqual([]);
    await page.close();
  });

  it("follows the colors of the system, or the reader's choice", async () => {
    const page = await browser.newPage();
    await open(page, "routes", "mcpAuthorization");
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await ground()).not.toBe(light);
    await page.getByRole("button", { name: "Light colors" }).click();
    expect(await ground()).toBe(light);
    await page.reload();
    expect(await ground()).toBe(light);
    await page.close();
  });
});
