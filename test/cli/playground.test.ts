import { request } from "node:http";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { GwcProcess } from "../harness/gwc.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { describeUnless } from "../harness/skip.ts";
import { startUpstream } from "../harness/upstream.ts";
import { Workspace } from "../harness/workspace.ts";
import { startAskingServer } from "../mcp/asking-server.ts";
import { openSession } from "../mcp/raw-client.ts";
import { consoleOf } from "./admin-gateway.ts";

let shop: Echo;
let port: number;
let running: GwcProcess;
/** Of the admin page. */
let url: string;
/** Ends the response of the slow route. */
let finish: () => void;

beforeAll(async () => {
  shop = await startEcho();
  const { url: server } = await startMcpServer();
  port = await freePort();
  const slow = await startUpstream((_, response) => {
    finish = () => response.end("slow");
  });
  const asking = { name: "asking", mcp: { host: (await startAskingServer()).url } };
  const at = (pathPrefix: string) => [{ path: { pathPrefix } }];
  const routes = [
    {
      name: "tools",
      matches: at("/mcp"),
      policies: { mcpAuthorization: { rules: ['mcp.tool.name != "drop"'] } },
      backends: [{ mcp: { targets: ["a", "b"].map((name) => ({ name, mcp: { host: server } })) } }],
    },
    {
      name: "open",
      matches: at("/open"),
      backends: [{ mcp: { targets: [{ name: "a", mcp: { host: server } }] } }],
    },
    { name: "asking", matches: at("/ask"), backends: [{ mcp: { targets: [asking] } }] },
    { name: "slow", matches: at("/slow"), backends: [{ host: slow }] },
    {
      name: "shop",
      matches: at("/shop"),
      policies: {
        apiKey: { keys: [{ key: "${SHOP_KEY}", metadata: { name: "ann" } }] },
        authorization: { rules: [{ deny: 'request.path.startsWith("/shop/admin")' }] },
      },
      backends: [
        { host: shop.url, weight: 3 },
        { host: shop.url, weight: 1 },
      ],
    },
  ];
  const workspace = new Workspace({
    "gateway.yaml": JSON.stringify({
      config: {
        statsAddr: "127.0.0.1:0",
        readinessAddr: "127.0.0.1:0",
        adminAddr: "127.0.0.1:0",
        logging: { audit: {} },
      },
      binds: [{ port, listeners: [{ routes }] }],
    }),
  });
  running = new GwcProcess(["run", workspace.path("gateway.yaml")], {
    env: { SHOP_KEY: "open sesame" },
  });
  [, url = ""] = await running.seen(/admin page: (\S+)\n/);
});

interface Attempt {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly call?: object;
}

/** Sends what the page sends, but for what an attempt has of its own. */
async function send({ headers = {}, path = "/ui/api/try", call = {} }: Attempt): Promise<number> {
  const page = await (await fetch(url)).text();
  const [, key = ""] = /name="gwc-page-key" content="([^"]+)"/.exec(page) ?? [];
  const { origin, host } = new URL(url);
  const own = { host, origin, "content-type": "application/json", "x-gwc-page": key };
  const body = JSON.stringify({
    route: "shop",
    method: "GET",
    target: "/shop",
    headers: ["authorization: Bearer open sesame"],
    body: "",
    ...call,
  });
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method: "POST", headers: { ...own, ...headers } });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end(body);
  });
}

describe("the playground sends requests for its own page alone", () => {
  it("what the page sends reaches the gateway", async () => {
    const before = shop.count();
    expect(await send({ call: { target: "/shop/1?key=secret" } })).toBe(200);
    expect(shop.count()).toBe(before + 1);
    const [line] = await running.seen(/^.*"event":"admin-request".*$/m);
    expect(JSON.parse(line)).toMatchObject({
      scope: "audit",
      route: "shop",
      "http.method": "GET",
      "http.path": "/shop/1",
    });
    expect(running.output).not.toMatch(/sesame|key=secret/);
  });

  it.each([
    ["another origin", { headers: { origin: "http://evil.test" } }],
    ["the origin of another port", { headers: { origin: "http://127.0.0.1:1" } }],
    ["no origin", { headers: { origin: "null" } }],
    [
      "a name that was pointed here",
      { headers: { host: "evil.test", origin: "http://evil.test" } },
    ],
    ["another site", { headers: { "sec-fetch-site": "cross-site" } }],
    ["a form", { headers: { "content-type": "text/plain" } }],
    ["somebody without the key", { headers: { "x-gwc-page": "" } }],
    ["somebody with another key", { headers: { "x-gwc-page": "A".repeat(43) } }],
    ["a path without an action", { path: "/ui/try" }],
  ] satisfies readonly (readonly [string, Attempt])[])("%s is refused", async (_, attempt) => {
    const before = shop.count();
    expect([403, 405]).toContain(await send(attempt));
    expect(shop.count()).toBe(before);
  });

  it("what is no request, too long, or for no route of the gateway goes nowhere", async () => {
    const before = shop.count();
    expect(await send({ call: { headers: "authorization: x" } })).toBe(400);
    expect(await send({ call: { body: "x".repeat(1024 * 1024) } })).toBe(413);
    expect(await send({ call: { route: "http://127.0.0.1:1" } })).toBe(200);
    expect(await send({ call: { target: "http://elsewhere.test/" } })).toBe(200);
    expect(await send({ call: { headers: ["x: a\r\nhost: b"] } })).toBe(200);
    expect(shop.count()).toBe(before);
  });
});

describeUnless(missingBrowser)("the playground in a browser", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });

  async function result(page: Page, part: string): Promise<string> {
    const shown = page.locator("section.result", { hasText: part }).last();
    await shown.waitFor();
    return (await shown.textContent()) ?? "";
  }

  /** Chooses a tool of the list. */
  async function choose(page: Page, name: string): Promise<void> {
    await page.locator(".choices").getByRole("button", { name }).click();
  }

  async function chooseUnlisted(page: Page, name: string): Promise<void> {
    await page.getByLabel("Another tool").fill(name);
    await page.getByRole("button", { name: "Choose", exact: true }).click();
  }

  it("lists the tools that a caller sees, and calls them", async () => {
    const page = await browser.newPage();
    const lines = consoleOf(page);
    await page.goto(new URL("/ui/tools/tools", url).href);
    await page.getByRole("button", { name: "List tools" }).click();
    await page.locator(".choices button").first().waitFor();
    const listed = await page.locator(".choices").first().textContent();
    expect(listed).toContain("a_hello");
    expect(listed).not.toContain("drop");
    await choose(page, "b_add");
    await page.getByRole("button", { name: "Call tool" }).click();
    expect(await result(page, "200")).toContain("add");
    await page.getByText("What the gateway noted").click();
    expect(await result(page, "gen_ai.tool.name")).toContain("add");
    await chooseUnlisted(page, "b_drop");
    await page.getByRole("button", { name: "Call tool" }).click();
    expect(await result(page, "Unknown tool: b_drop")).toContain("Authorization");
    const history = page.locator("section", { hasText: "of this page; nothing is stored" }).last();
    expect(await history.locator("li").count()).toBe(2);
    expect(lines).toEqual([]);
    await page.close();
  });

  it("calls tools as a client of either era, and shows what each side speaks", async () => {
    const page = await browser.newPage();
    await page.goto(new URL("/ui/tools/tools", url).href);
    await page.getByLabel("As a client with").selectOption("stateless");
    await page.getByRole("button", { name: "List tools" }).click();
    await choose(page, "b_add");
    await page.getByRole("button", { name: "Call tool" }).click();
    await page.getByText("What the gateway noted").click();
    const called = await result(page, "gen_ai.tool.name");
    expect(called).toContain("mcp.erastateless");
    expect(called).toContain("mcp.target.erasessions");
    await page.close();
  });

  it("shows what a server asks of a stateless client, and that the call waits", async () => {
    const page = await browser.newPage();
    await page.goto(new URL("/ui/tools/asking", url).href);
    await page.getByLabel("As a client with").selectOption("stateless");
    await chooseUnlisted(page, "ask");
    await page.getByRole("button", { name: "Call tool" }).click();
    expect(await result(page, "input_required")).toContain("Which colour?");
    await page.goto(new URL("/ui/requests", url).href);
    await page.getByText("1 MCP call waiting for input of their clients.").waitFor();
    await page.close();
  });

  it("responds to what a server asks, and shows the result", async () => {
    const page = await browser.newPage();
    await page.goto(new URL("/ui/tools/asking", url).href);
    await page.getByLabel("As a client with").selectOption("stateless");
    await chooseUnlisted(page, "ask");
    await page.getByRole("button", { name: "Call tool" }).click();
    const question = page.locator("section", { hasText: "The server asks" }).last();
    await question.getByText("Which colour?").waitFor();
    await question.getByRole("button", { name: "Respond" }).click();
    await question.waitFor({ state: "detached" });
    expect(await result(page, "200")).toContain('"content": []');
    await page.close();
  });

  it("gets prompts, and reads resources", async () => {
    const page = await browser.newPage();
    const lines = consoleOf(page);
    await page.goto(new URL("/ui/tools/open", url).href);
    await page.getByRole("button", { name: "Prompts", exact: true }).click();
    await page.getByRole("button", { name: "List prompts" }).click();
    await page.locator(".choices button").first().click();
    await page.getByRole("button", { name: "Get prompt" }).click();
    expect(await result(page, "200")).toContain("user");
    await page.getByRole("button", { name: "Decide only" }).click();
    expect(await result(page, "passes")).toContain("get prompt");
    await page.getByRole("button", { name: "Resources", exact: true }).click();
    await page.getByRole("button", { name: "List resources" }).click();
    await page.locator(".choices button").first().click();
    await page.getByRole("button", { name: "Read resource" }).click();
    expect(await result(page, "200")).toContain("resource");
    await page.getByLabel("As a client with").selectOption("stateless");
    await page.getByRole("button", { name: "Read resource" }).click();
    await page.getByText("What the gateway noted").click();
    expect(await result(page, "mcp.resource.uri")).toContain("mcp.erastateless");
    expect(lines).toEqual([]);
    await page.close();
  });

  it("calls a route as somebody, and as nobody", async () => {
    const page = await browser.newPage();
    await page.goto(new URL("/ui/try/shop", url).href);
    const target = page.getByLabel("Path and query").first();
    await page.getByRole("button", { name: "Send" }).click();
    expect(await result(page, "401")).toContain("APIKeyAuth");
    await page.getByLabel("API key").fill("open sesame");
    await target.fill("/shop?<b>=1");
    await page.getByRole("button", { name: "Send" }).click();
    expect(await result(page, "/shop?<b>=1")).toContain("200");
    await target.fill("/shop/admin");
    await page.getByRole("button", { name: "Send" }).click();
    expect(await result(page, "403")).toContain("Authorization");
    await page.getByText("What the gateway noted").click();
    expect(await result(page, "403")).toContain("policies.authorization: rules[0].deny");
    await page.close();
  });

  it("decides for whom one names, and sends nothing", async () => {
    const page = await browser.newPage();
    await page.goto(new URL("/ui/try/shop", url).href);
    const decide = page.getByRole("button", { name: "Decide only" });
    await page.getByText("Headers", { exact: true }).click();
    const whose = page.getByLabel("Whose credential");
    const before = shop.count();
    await decide.click();
    expect(await result(page, "is refused")).toContain("apiKey");
    await whose.fill('{"name":"eve"}');
    await decide.click();
    expect(await result(page, "passes")).toContain("yes: GET /shop");
    await page.getByLabel("Path and query").first().fill("/shop/admin");
    await decide.click();
    expect(await result(page, "is refused")).toContain("authorization");
    await whose.fill("eve");
    await decide.click();
    await page.getByText("an identity is a JSON object").waitFor();
    await page.goto(new URL("/ui/tools/tools", url).href);
    await chooseUnlisted(page, "b_drop");
    await decide.click();
    expect(await result(page, "is refused")).toContain("server b");
    await chooseUnlisted(page, "b_add");
    await decide.click();
    expect(await result(page, "passes")).toContain("call tool b_add");
    expect(shop.count()).toBe(before);
    await page.close();
  });

  it("routes show what was refused and why, and the share of each backend", async () => {
    await fetch(`http://127.0.0.1:${port}/shop`);
    const page = await browser.newPage();
    await page.goto(new URL("/ui/routes", url).href);
    const route = page.locator(".route", { hasText: "shop" });
    await route.waitFor();
    expect(await route.textContent()).toMatch(/401 APIKeyAuth: \d/);
    expect(await route.textContent()).toContain("weight 3: 75 % of requests");
    await page.close();
  });

  it("requests are listed while in flight and after, without their queries", async () => {
    const page = await browser.newPage();
    const exact = { exact: true };
    await page.goto(new URL("/ui/requests", url).href);
    await openSession(`http://127.0.0.1:${port}/mcp`);
    await fetch(`http://127.0.0.1:${port}/shop/b?token=hunter2`);
    const slow = fetch(`http://127.0.0.1:${port}/slow`);
    await page.locator("tbody tr", { hasText: "/slow" }).getByText("in flight").waitFor();
    finish();
    await slow;
    await page.locator("tbody tr", { hasText: "/slow" }).getByText("200", exact).waitFor();
    const row = page.locator("tbody tr", { hasText: "/shop/b" });
    await row.getByText("APIKeyAuth").waitFor();
    await row.getByRole("button").click();
    expect(await page.locator(".detail").textContent()).toContain("the gateway: APIKeyAuth");
    expect(await page.content()).not.toContain("hunter2");
    const sessions = page.getByRole("group", { name: "MCP sessions" });
    expect(await sessions.locator("tbody tr").count()).toBe(1);
    await page.getByRole("button", { name: "Pause" }).click();
    await fetch(`http://127.0.0.1:${port}/shop/while-paused`);
    await page.getByLabel("Filter requests").fill("apikeyauth /shop/b");
    await expect.poll(() => row.count()).toBe(1);
    expect(await page.getByText("/shop/while-paused").count()).toBe(0);
    await page.getByLabel("Filter requests").fill("");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("/shop/while-paused").first().waitFor();
    await page.close();
  });

  it("a page of another site reads nothing and makes no call", async () => {
    const before = shop.count();
    const site = await startUpstream((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<body><script>${attack(new URL("/ui/api/try", url).href)}</script>`);
    });
    const page = await browser.newPage();
    await page.goto(site);
    await page.waitForFunction("document.title !== ''");
    expect(await page.title()).toBe("kept kept");
    // A call of our own comes after theirs.
    expect(await send({})).toBe(200);
    expect(shop.count()).toBe(before + 1);
    await page.close();
  });
});

/** Attempts of a page of another origin; its title reports the result. */
function attack(admin: string): string {
  return `
    (async () => {
      const admin = ${JSON.stringify(admin)};
      const body = JSON.stringify({
        route: "shop", method: "GET", target: "/shop", body: "",
        headers: ["authorization: Bearer open sesame"],
      });
      const outcome = (promise) => promise.then(() => "read", () => "kept");
      const read = await outcome(fetch(admin));
      const headers = { "content-type": "application/json", "x-gwc-page": "x" };
      const asked = await outcome(fetch(admin, { method: "POST", headers, body }));
      await fetch(admin, { method: "POST", mode: "no-cors", body }).catch(() => {});
      const frame = document.createElement("iframe");
      const form = document.createElement("form");
      frame.name = "inside";
      Object.assign(form, { action: admin, method: "POST", enctype: "text/plain", target: "inside" });
      form.append(Object.assign(document.createElement("input"), { name: body }));
      document.body.append(frame, form);
      frame.addEventListener("load", () => { document.title = read + " " + asked; });
      form.submit();
    })();`;
}
