import { createServer } from "node:http";
import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { atEnd } from "../harness/at-end.ts";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { freePort } from "../harness/free-port.ts";
import { listen } from "../harness/listen.ts";
import { describeUnless } from "../harness/skip.ts";
import { startUpstream } from "../harness/upstream.ts";
import { Workspace } from "../harness/workspace.ts";
import { startHealthy } from "../llm/llm-upstream.ts";
import { consoleOf, startAdmin } from "./admin-gateway.ts";

const HOSTILE = `"><img src=x onerror=alert(1)><script>alert(2)</script>'\u202e`;

/** Properties whose names, types and references are made to break a form. */
const HOSTILE_SCHEMA = {
  type: "object",
  required: ["__proto__", "a"],
  properties: JSON.parse(`{
    "__proto__": { "type": "string", "description": ${JSON.stringify(HOSTILE)} },
    "constructor": { "type": "boolean" },
    "a": { "$ref": "#/properties/a" },
    "b": { "$ref": "https://evil.test/schema.json" },
    "c": { "type": ["null", "integer"], "enum": [1, ${JSON.stringify(HOSTILE)}, { "x": 1 }] },
    "d": { "type": "object", "properties": { "d": { "$ref": "#/properties/d" } } },
    "e": 17
  }`),
};

const HUGE_SCHEMA = {
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`p${index}`, { type: "string" }]),
  ),
};

const TOOLS = [
  { name: HOSTILE, title: HOSTILE, description: HOSTILE, inputSchema: HOSTILE_SCHEMA },
  { name: "huge", description: "x".repeat(100_000), inputSchema: HUGE_SCHEMA },
  { name: "no-schema", inputSchema: null },
];

/** An MCP server that does what a compromised one might. */
async function startHostileServer(): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const capabilities = { tools: {} };
    const serverInfo = { name: HOSTILE, version: "1" };
    const content = [
      { type: "text", text: HOSTILE },
      { type: "image", mimeType: 'image/svg+xml" onload="alert(3)', data: "PHN2Zz4=" },
      { type: "image", mimeType: "image/png", data: '" onerror="alert(4)' },
      { type: "resource_link", uri: "javascript:alert(5)", name: HOSTILE },
      { type: HOSTILE },
      null,
    ];
    const results: Readonly<Record<string, object>> = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities, serverInfo },
      "tools/list": { tools: TOOLS },
      "tools/call": { content, structuredContent: { [HOSTILE]: [HOSTILE] } },
    };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
  });
  atEnd(() => server.close());
  return `http://127.0.0.1:${await listen(server)}/mcp`;
}

describeUnless(missingBrowser)("the admin page shows what others chose as text", () => {
  let browser: Browser;
  let url: string;
  let port: number;

  beforeAll(async () => {
    browser = await startBrowser();
    port = await freePort();
    const upstream = await startUpstream((_, response) => response.end("fine"));
    const { host } = await startHealthy();
    const at = (pathPrefix: string) => [{ path: { pathPrefix } }];
    const provider = { name: "one", provider: { openAI: {} }, hostOverride: host };
    const routes = [
      {
        name: HOSTILE,
        matches: at("/shop"),
        policies: {
          authorization: {
            rules: [{ deny: `request.path == ${JSON.stringify(`/shop/${HOSTILE}`)}` }],
          },
        },
        backends: [{ host: upstream }],
      },
      {
        name: "tools",
        matches: at("/mcp"),
        backends: [
          { mcp: { targets: [{ name: "a", mcp: { host: await startHostileServer() } }] } },
        ],
      },
      {
        name: "models",
        matches: at("/v1"),
        backends: [{ ai: { groups: [{ providers: [provider] }] } }],
      },
    ];
    const any = "127.0.0.1:0";
    const workspace = new Workspace({
      "gateway.yaml": JSON.stringify({
        config: { statsAddr: any, readinessAddr: any, adminAddr: any },
        binds: [{ port, listeners: [{ name: HOSTILE, routes }] }],
      }),
    });
    url = (await startAdmin(workspace.path("gateway.yaml"))).url;
    await fetch(`http://127.0.0.1:${port}/shop/%3Cimg%20src=x%20onerror=alert(6)%3E`);
    await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: HOSTILE, messages: [{ role: "user", content: "Hello" }] }),
    });
  });

  /** Visits a part, and returns what the browser complained about. */
  async function visit(part: string, use: (page: Page) => Promise<void>): Promise<void> {
    const page = await browser.newPage();
    const lines = consoleOf(page);
    const requested: string[] = [];
    page.on("request", (request) => requested.push(request.url()));
    await page.goto(new URL(`/ui/${part}`, url).href);
    await use(page);
    expect(await page.locator("#page script, #page [onerror], #page [onload]").count()).toBe(0);
    expect(await page.locator('#page a[href^="javascript"]').count()).toBe(0);
    expect(await page.locator("#page").textContent()).not.toContain("\u202e");
    expect(lines.filter((line) => !line.startsWith("Failed to load resource"))).toEqual([]);
    const elsewhere = requested.filter((each) => !each.startsWith(new URL(url).origin));
    expect(elsewhere.filter((each) => !each.startsWith("data:image/png;"))).toEqual([]);
    await page.close();
  }

  it.each([
    ["", "Requests per second"],
    ["requests", "onerror=alert(6)"],
    ["routes", "onerror=alert(1)"],
    ["graph", "onerror=alert(1)"],
    ["access", "onerror=alert(1)"],
    ["code", "import"],
    ["try", "Path and query"],
  ])("in /%s", (part, text) =>
    visit(part, (page) => page.getByText(text).filter({ visible: true }).first().waitFor()),
  );

  it("in names, schemas and results of tools", () =>
    visit("tools", async (page) => {
      await page.getByRole("button", { name: "List tools" }).click();
      const tools = page.locator(".choices button");
      await expect.poll(() => tools.count()).toBe(3);
      // Each member has a field, also those with names of Object.prototype.
      expect(await page.locator(".schema .label").count()).toBeGreaterThanOrEqual(7);
      await page.getByRole("button", { name: "Call tool" }).click();
      await page.locator("section.result").waitFor();
      expect(await page.locator("section.result").textContent()).toContain("javascript:alert(5)");
      await tools.nth(1).click();
      expect(await page.locator(".schema").count()).toBe(0);
      await page.getByLabel("Arguments, as JSON").waitFor();
      await tools.nth(2).click();
      await page.getByRole("button", { name: "Call tool" }).click();
      await page.locator("section.result").waitFor();
    }));

  it("in the stream of a model that repeats what it was told", () =>
    visit("chat", async (page) => {
      await page.getByLabel("Model").first().fill(HOSTILE);
      await page.getByLabel("Message", { exact: true }).fill(HOSTILE);
      await page.getByRole("button", { name: "Send" }).click();
      await page.locator(".turn.assistant").waitFor();
      await page.getByRole("button", { name: "Send" }).waitFor();
    }));

  it("a flood of requests with made-up names leaves the page small and quick", async () => {
    const flood = Array.from({ length: 3000 }, (_, index) => index);
    while (flood.length > 0)
      await Promise.all(
        flood
          .splice(0, 50)
          .map((index) =>
            fetch(`http://127.0.0.1:${port}/shop/${"x".repeat(3000)}${index}`).then((response) =>
              response.text(),
            ),
          ),
      );
    const requests = await (await fetch(new URL("/ui/api/requests", url))).text();
    expect(JSON.parse(requests).requests.length).toBeLessThanOrEqual(510);
    expect(requests.length).toBeLessThan(600_000);
    await visit("requests", async (page) => {
      await page.getByRole("button", { name: "Show more" }).waitFor();
      expect(await page.locator("tbody tr").count()).toBeLessThanOrEqual(50);
    });
  });
});
