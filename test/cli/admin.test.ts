import { request } from "node:http";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { freePort } from "../harness/free-port.ts";
import { describeUnless } from "../harness/skip.ts";
import { startUpstream } from "../harness/upstream.ts";
import { Workspace } from "../harness/workspace.ts";
import { startHealthy } from "../llm/llm-upstream.ts";
import { consoleOf, startAdmin } from "./admin-gateway.ts";
import { gatewayText } from "./gateway-text.ts";

const cors = '            policies: {cors: {allowOrigins: ["*"]}}\n';
const rule = `            policies: {authorization: {rules: ["request.path == '<b>&'"]}}\n`;

/** Starts `gwc run`; resolves with its admin page's URL. */
async function start(file: string): Promise<string> {
  return (await startAdmin(file)).url;
}

async function read(url: string, path: string): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(`/ui/api/${path}`, url));
  expect(response.headers.get("content-type")).toBe("application/json");
  return JSON.parse(await response.text());
}

describe("the admin page", () => {
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    const workspace = new Workspace({ "gateway.yaml": gatewayText({ upstream: 9, port }) });
    url = await start(workspace.path("gateway.yaml"));
  });

  it("leads from / to /ui/", async () => {
    const root = await fetch(new URL("/", url), { redirect: "manual" });
    expect([root.status, root.headers.get("location")]).toEqual([302, "/ui/"]);
  });

  it.each([
    ["/ui/", "rebound.example:15000", 403],
    ["/ui/api/gateway", "rebound.example:15000", 403],
    ["/ui/api/gateway", "127.0.0.1.rebound.example", 403],
    ["/ui/assets/page.js", "169.254.169.254", 403],
    ["/ui/", "localhost:1", 200],
    ["/ui/", "[::1]:15000", 200],
  ] as const)("serves %s for the host %s with %i", async (path, host, status) => {
    expect(await statusFor(new URL(path, url).href, { host })).toBe(status);
  });

  it.each([
    ["cross-site", 403],
    ["same-site", 403],
    ["same-origin", 200],
    ["none", 200],
  ] as const)("answers a read of a %s page with %i", async (site, status) => {
    const { href } = new URL("/ui/api/access", url);
    expect(await statusFor(href, { "sec-fetch-site": site })).toBe(status);
  });

  it("has no other methods, paths and files", async () => {
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
    expect((await fetch(new URL("/ui/api/gateway", url), { method: "DELETE" })).status).toBe(405);
    for (const path of [
      "/ui/api/code/../../../package.json",
      "/ui/api/code/package.json",
      "/ui/api/toString",
      "/ui/assets/index.html",
      "/ui/assets/constructor",
      "/etc/passwd",
    ])
      expect([path, (await fetch(new URL(path, url))).status]).toEqual([path, 404]);
  });

  it("allows scripts and styles of its own address alone, and none in the document", async () => {
    const response = await fetch(url);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const text = await response.text();
    expect(text).not.toMatch(/<script(?![^>]*src="\/ui\/)|<style|\bon\w+=|https?:\/\//);
    for (const name of ["page.js", "page.css", "icon.svg"]) {
      const asset = await fetch(new URL(`/ui/assets/${name}`, url));
      expect([name, asset.status]).toEqual([name, 200]);
      expect(await asset.text()).not.toMatch(/@import|url\(http/);
    }
  });
});

it("the admin page shows the state of providers", async () => {
  const port = await freePort();
  const healthy = await startHealthy();
  const provider = (name: string, host: string) => ({
    providers: [{ name, provider: { openAI: {} }, hostOverride: host }],
  });
  const groups = [provider("gone", "127.0.0.1:9"), provider("spare", healthy.host)];
  const routes = [{ name: "chat", backends: [{ ai: { groups } }] }];
  const any = "127.0.0.1:0";
  const config = {
    config: { statsAddr: any, readinessAddr: any, adminAddr: any },
    binds: [{ port, listeners: [{ routes }] }],
  };
  const workspace = new Workspace({ "gateway.yaml": JSON.stringify(config) });
  const url = await start(workspace.path("gateway.yaml"));
  expect((await read(url, "gateway")).servers).toEqual([]);
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(response.headers.get("x-llm-provider")).toBe("spare");
  expect((await read(url, "gateway")).servers).toEqual([
    { route: "chat", server: "gone", isGood: false, text: expect.stringMatching(/^ejected for/) },
    { route: "chat", server: "spare", isGood: true, text: expect.stringMatching(/^health 100 %/) },
  ]);
});

describeUnless(missingBrowser)("the admin page in a browser", () => {
  let browser: Browser;
  let upstream: string;

  beforeAll(async () => {
    upstream = await startUpstream((request, response) => {
      response.statusCode = request.url === "/broken" ? 503 : 200;
      response.end("fine");
    });
    browser = await startBrowser();
  });

  /** Opens a part of the page of a gateway with a route and these policies. */
  async function open(more: string, part = ""): Promise<Opened> {
    const port = await freePort();
    const text = gatewayText({ upstream, port, more });
    const workspace = new Workspace({ "gateway.yaml": text });
    const url = await start(workspace.path("gateway.yaml"));
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const lines = consoleOf(page);
    await page.goto(new URL(part, url).href);
    return { page, lines, port, text, write: (now) => workspace.write("gateway.yaml", now) };
  }

  it("shows routes with their places, policies and backends, and counts by itself", async () => {
    const { page, lines, port } = await open(cors, "routes");
    await page.getByRole("heading", { name: `:${port}` }).waitFor();
    const route = page.locator(".route").first();
    await route.getByText("gateway.yaml:6").waitFor();
    expect(await route.locator(".chip").textContent()).toBe("cors");
    expect(await route.locator(".backend").textContent()).toContain(upstream);
    for (let count = 0; count < 3; count++) await fetch(`http://127.0.0.1:${port}/`);
    const requests = route.locator(".route-figures dd").first();
    await expect.poll(() => requests.textContent()).toBe("3");
    // The content security policy lets the page's own style and script through, and nothing was refused.
    expect(lines).toEqual([]);
    await page.close();
  });

  it("draws charts of requests, errors and latencies, which the keyboard reads", async () => {
    const { page, port } = await open("");
    await page.getByText("No requests in this period").waitFor();
    for (const path of ["/", "/a", "/broken"]) await fetch(`http://127.0.0.1:${port}${path}`);
    const chart = page.getByRole("group", { name: "Requests per second" });
    await chart.waitFor();
    expect(await page.locator(".tile-value").first().textContent()).toBe("3");
    await page.getByText("1 failed, 0 rejected").waitFor();
    await chart.press("End");
    expect(await chart.getByRole("status").textContent()).toMatch(/ok [\d.]+, 4xx 0, 5xx [\d.]+$/);
    await chart.press("Home");
    expect(await chart.getByRole("status").textContent()).toMatch(/ok 0, 4xx 0, 5xx 0$/);
    const row = page.getByRole("row", { name: /api/ });
    expect(await row.textContent()).toMatch(/^api3011?/);
    await page.getByRole("button", { name: "api", exact: true }).click();
    await expect.poll(() => page.getByLabel("Figures of").inputValue()).toBe("route:api");
    await page.close();
  });

  it("shows generated code and the graph, with markup of the configuration as text", async () => {
    const { page } = await open(rule, "routes");
    await page.getByRole("link", { name: "api", exact: true }).click();
    const code = page.locator("pre.code");
    await code.waitFor();
    expect(await code.textContent()).toContain("// Route api: authorization, then host.");
    expect(await code.textContent()).toContain("// request.path == '<b>&'");
    expect(await code.locator("b").count()).toBe(0);
    expect(await page.locator(".t-keyword").first().textContent()).toBe("import");
    await page.getByRole("link", { name: "Graph", exact: true }).click();
    const box = page.getByRole("button", { name: /^api/ });
    expect(await box.textContent()).toContain("1 rule");
    await box.press("Enter");
    await expect.poll(() => page.locator(".edge.own").count()).toBe(2);
    await page.close();
  });

  it("shows the mistakes of the last edit until they are gone", async () => {
    const { page, text, write } = await open("");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    write(text.replace("name", "nam"));
    await page.getByText("The last edit was not applied.").waitFor();
    await page.getByText('routes[0] has no field "nam"').waitFor();
    await page.getByText("gateway.yaml:6:").waitFor();
    write(text.replace("name: api", "name: shop"));
    await page.getByText("The last edit was not applied.").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Routes", exact: true }).click();
    await page.getByRole("link", { name: "shop", exact: true }).waitFor();
    await page.close();
  });

  it("compares versions by their effect on requests", async () => {
    const { page, text, write } = await open("", "changes");
    await page.getByText("The first version").waitFor();
    const deny = `            policies: {authorization: {rules: [{deny: "request.path == '/admin'"}]}}\n`;
    write(text + deny);
    await page.getByRole("button", { name: /^Version 2/ }).waitFor();
    const difference = page.locator(".differences li").first();
    await difference.waitFor();
    expect(await difference.textContent()).toContain("closes");
    expect(await difference.textContent()).toContain("/admin");
    await page.close();
  });

  it("decides who may use what, with the rule and an executed request", async () => {
    const { page } = await open(
      `            policies: {authorization: {rules: [{deny: 'request.path == "/admin"'}]}}\n`,
      "access",
    );
    const cell = page.getByRole("button", { name: "no: /admin for no credentials" });
    await cell.waitFor();
    expect(await page.getByRole("button", { name: /^depends: path prefix \/ / }).count()).toBe(1);
    await cell.click();
    const detail = page.locator(".detail");
    expect(await detail.textContent()).toContain("authorization");
    expect(await detail.textContent()).toMatch(/gateway\.yaml:\d+:\d+/);
    expect(await detail.textContent()).toContain("Executed: refused");
    await page.close();
  });

  it("is used by keyboard: skip link, shortcuts and Escape", async () => {
    const { page } = await open("");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await page.keyboard.press("g");
    await page.keyboard.press("q");
    await page.getByRole("heading", { name: "Requests", level: 1 }).waitFor();
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    await page.setViewportSize({ width: 360, height: 740 });
    const menu = page.getByRole("button", { name: "Open the menu" });
    await menu.click();
    await page.getByRole("link", { name: "Routes", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await menu.waitFor();
    await page.close();
  });
});

interface Opened {
  readonly page: Page;
  readonly lines: readonly string[];
  readonly port: number;
  readonly text: string;
  readonly write: (text: string) => void;
}

/** The status of a GET with headers of its own. */
function statusFor(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on("error", reject);
    call.end();
  });
}
