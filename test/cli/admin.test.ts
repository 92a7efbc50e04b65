import { request } from "node:http";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { describeUnless } from "../harness/skip.ts";
import { startUpstream } from "../harness/upstream.ts";
import { Workspace } from "../harness/workspace.ts";
import { startHealthy } from "../llm/llm-upstream.ts";
import { gatewayText } from "./gateway-text.ts";

const cors = '            policies: {cors: {allowOrigins: ["*"]}}\n';
const rule = `            policies: {authorization: {rules: ["request.path == '<b>&'"]}}\n`;

/** Starts `gwc run`; resolves with its admin page's URL. */
async function start(file: string): Promise<string> {
  const running = new GwcProcess(["run", "-f", file]);
  const [, url = ""] = await running.seen(/admin page: (\S+)\n/);
  return url;
}

describe("the admin page", () => {
  it("serves this machine's names only, reads only, and leads to /ui/", async () => {
    const port = await freePort();
    const workspace = new Workspace({ "gateway.yaml": gatewayText({ upstream: 9, port }) });
    const url = await start(workspace.path("gateway.yaml"));
    const root = await fetch(new URL("/", url), { redirect: "manual" });
    expect([root.status, root.headers.get("location")]).toEqual([302, "/ui/"]);
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
    expect((await fetch(new URL("/ui/code/../../../package.json", url))).status).toBe(404);
    expect(await statusFor(url, "rebound.example:15000")).toBe(403);
    expect(await statusFor(url, "localhost:1")).toBe(200);
  });

  it("an address that others reach is refused", async () => {
    const port = await freePort();
    const workspace = new Workspace({ "gateway.yaml": gatewayText({ upstream: 9, port }) });
    const running = new GwcProcess(["run", "-f", workspace.path("gateway.yaml")], {
      env: { ADMIN_ADDR: "0.0.0.0:0" },
    });
    await running.seen(/warning: no admin page on 0\.0\.0\.0:0: it is no loopback address\n/);
  });
});

it("the admin page shows how providers of models do, and who is not asked", async () => {
  const port = await freePort();
  const healthy = await startHealthy();
  const provider = (name: string, host: string) => ({
    providers: [{ name, provider: { openAI: {} }, hostOverride: host }],
  });
  const groups = [provider("gone", "127.0.0.1:9"), provider("spare", healthy.host)];
  const routes = [{ name: "chat", backends: [{ ai: { groups } }] }];
  const config = { binds: [{ port, listeners: [{ routes }] }] };
  const workspace = new Workspace({ "gateway.yaml": JSON.stringify(config) });
  const url = await start(workspace.path("gateway.yaml"));
  const shown = async () => (await (await fetch(url)).text()).replace(/<[^>]+>/g, " ");
  expect(await shown()).not.toContain("not asked");
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }] }),
  });
  expect(response.headers.get("x-llm-provider")).toBe("spare");
  const page = (await shown()).replace(/\s+/g, " ");
  expect(page).toMatch(/group 1: gone http:\/\/127\.0\.0\.1:9 ejected for \d+ s/);
  expect(page).toMatch(/group 2: spare http:\S+ health 100 %, \d in flight/);
});

describeUnless(missingBrowser)("the admin page in a browser", () => {
  let browser: Browser;
  let upstream: string;

  beforeAll(async () => {
    upstream = await startUpstream((_, response) => response.end("fine"));
    browser = await startBrowser();
  });

  it("shows what is served and where it comes from, and counts by itself", async () => {
    const port = await freePort();
    const text = gatewayText({ upstream, port, more: cors });
    const workspace = new Workspace({ "gateway.yaml": text });
    const url = await start(workspace.path("gateway.yaml"));
    const page = await browser.newPage();
    const refused: string[] = [];
    page.on("console", (message) => refused.push(message.text()));
    await page.goto(url);
    expect(await page.locator("h2").first().textContent()).toContain(`Port ${port}`);
    const cells = page.locator("tbody tr").first().locator("td");
    const shown = async (): Promise<string[]> =>
      (await cells.allTextContents()).map((cell) => cell.replace(/\s+/g, " ").trim());
    expect((await shown()).slice(0, 6)).toEqual([
      "api trygateway.yaml:6",
      "/*",
      "cors :7",
      upstream,
      "0",
      "0",
    ]);
    for (let count = 0; count < 3; count++) await fetch(`http://127.0.0.1:${port}/`);
    await expect.poll(async () => (await shown())[4]).toBe("3");
    expect((await shown())[7]).toMatch(/^[\d.]+ ms$/);
    // The content security policy lets the page's own style and script through, and nothing was refused.
    expect(refused).toEqual([]);
    await page.close();
  });

  it("shows the generated code and a picture, with markup of the configuration as text", async () => {
    const port = await freePort();
    const text = gatewayText({ upstream, port, more: rule });
    const workspace = new Workspace({ "gateway.yaml": text });
    const url = await start(workspace.path("gateway.yaml"));
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByRole("link", { name: "api", exact: true }).click();
    const code = await page.locator("pre.code").textContent();
    expect(code).toContain("// Route api: authorization, then host.");
    expect(code).toContain("// request.path == '<b>&'");
    expect(await page.locator("pre.code b").count()).toBe(0);
    expect(await page.locator(".keyword").first().textContent()).toBe("import");
    await page.getByRole("link", { name: "Picture", exact: true }).click();
    const picture = page.locator("main svg");
    expect(await picture.textContent()).toContain("1 rule");
    await page.close();
  });

  it("shows the mistakes of the last edit until they are gone", async () => {
    const port = await freePort();
    const text = gatewayText({ upstream, port });
    const workspace = new Workspace({ "gateway.yaml": text });
    const url = await start(workspace.path("gateway.yaml"));
    const page = await browser.newPage();
    await page.goto(url);
    expect(await page.locator(".pill").first().textContent()).toBe("serving");
    workspace.write("gateway.yaml", text.replace("name", "nam"));
    await page.getByText("The last edit was not applied").waitFor();
    expect(await page.locator(".notice pre").textContent()).toContain(
      'error[unknown-field]: routes[0] has no field "nam"',
    );
    expect(await page.locator("tbody tr").count()).toBe(1);
    workspace.write("gateway.yaml", text.replace("name: api", "name: shop"));
    await page.getByRole("link", { name: "shop", exact: true }).waitFor();
    expect(await page.locator(".notice").count()).toBe(0);
    await page.close();
  });
});

/** The status of a GET with a Host header of its own. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const call = request(url, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    call.on("error", reject);
    call.end();
  });
}
