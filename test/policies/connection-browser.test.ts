import { UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { describeUnless } from "../harness/skip.ts";
import { startUpstream } from "../harness/upstream.ts";
import { connectStateless } from "../mcp/stateless-client.ts";
import { ConnectionWorld, type Person, textOf } from "./connection-world.ts";

/** Requests whose responses a page of another site would like to have. */
const FOREIGN_FORM = (action: string, value: string) =>
  `<form method="post" action="${action}"><input name="action" value="${value}"></form><script>document.forms[0].submit()</script>`;

describeUnless(missingBrowser)("a person with a real browser", () => {
  let world: ConnectionWorld;
  let browser: Browser;

  beforeAll(async () => {
    world = await ConnectionWorld.start({ second: { isLikeKeycloak: true } });
    browser = await startBrowser();
  });

  /** Logs in at the gateway. */
  async function logIn(context: BrowserContext, path: string, name: string): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${world.base}${path}`);
    await page.fill("input[name=login]", name);
    await page.click("button");
    await page.waitForURL(`${world.base}${path}`);
    return page;
  }

  /** Clicks on the page, and logs in at the server, whose login page is on another site. */
  async function connect(page: Page, url: string, name: string): Promise<void> {
    await page.goto(url);
    await page.click("button[value=connect]");
    if (!page.url().startsWith(world.base)) {
      await page.fill("input[name=login]", name);
      await page.click("button");
    }
    await page.waitForURL(/\/callback\?/);
    expect(await page.textContent("h1")).toContain("is connected");
  }

  it("connects an account from a page that needs it, at a provider like Keycloak", async () => {
    const context = await browser.newContext();
    const page = await logIn(context, "/portal/echo", "zoe");
    expect(await page.textContent("h1")).toBe("brief is not connected");
    await page.click("a");
    await page.waitForURL(`${world.base}/connect/brief`);
    expect(await page.textContent("body")).toContain(new URL(world.brief.issuer).host);
    await connect(page, page.url(), "zoe");
    expect(world.brief.issuer).toContain("/realms/");
    await page.goto(`${world.base}/portal/echo`);
    expect(JSON.parse((await page.textContent("body")) ?? "")).toMatchObject({ user: "zoe" });
    // The list of accounts, and the end of the connection.
    await page.goto(`${world.base}/connect`);
    expect(await page.locator("li").allTextContents()).toEqual([
      ...["users: not connected", "brief: connected"],
    ]);
    world.brief.revoked.length = 0;
    await page.goto(`${world.base}/connect/brief`);
    await page.click("button[value=disconnect]");
    await page.waitForURL(`${world.base}/connect`);
    expect(world.brief.revoked).toHaveLength(2);
    await page.goto(`${world.base}/portal/echo`);
    expect(await page.textContent("h1")).toBe("brief is not connected");
    await context.close();
  });

  it("opens the page that a program asks for by elicitation, in both eras", async () => {
    for (const era of ["sessions", "stateless"] as const) {
      const name = `yan-${era}`;
      const person: Person = await world.person(name);
      const context = await browser.newContext();
      const page = await logIn(context, "/connect", name);
      const open = async (url: string) => {
        expect(url).toBe(`${world.base}/connect/brief`);
        await connect(page, url, name);
      };
      if (era === "sessions") {
        const client = await world.connectClient("brief", person, { elicitation: { url: {} } });
        const call = () => client.callTool({ name: "whoami" });
        const refused = await call().catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(UrlElicitationRequiredError);
        const [asked] = (refused as UrlElicitationRequiredError).elicitations;
        await open(asked?.url ?? "");
        expect(textOf(await call())).toBe(name);
        await client.close();
      } else {
        const { authorization } = person;
        const options = { capabilities: { elicitation: { url: {} } } };
        const client = await connectStateless(`${world.base}/brief`, options, { authorization });
        client.setRequestHandler("elicitation/create", async ({ params }) => {
          await open("url" in params ? String(params.url) : "");
          return { action: "accept" };
        });
        expect(textOf(await client.callTool({ name: "whoami" }))).toBe(name);
        await client.close();
      }
      await context.close();
    }
  });

  it("is not connected or disconnected by a page of another site", async () => {
    const context = await browser.newContext();
    const page = await logIn(context, "/connect", "vic");
    await connect(page, `${world.base}/connect/users`, "vic");
    const vic = await world.person("vic");
    for (const [connection, action] of [
      ["users", "disconnect"],
      ["brief", "connect"],
    ] as const) {
      const site = await startUpstream((_, response) => {
        response.setHeader("content-type", "text/html");
        response.end(FOREIGN_FORM(`${world.base}/connect/${connection}`, action));
      });
      // Another site than the gateway's, as browsers see it.
      await page.goto(site.replace("127.0.0.1", "localhost"));
      await page.waitForURL(`${world.base}/**`);
      expect(await page.locator("button[value=connect]").count()).toBe(0);
    }
    expect(await world.whoAmI("tools", vic)).toBe("vic");
    expect(await world.whoAmI("brief", vic)).toContain("/connect/brief");
    await context.close();
  });

  it("does not see the page in a frame of another site", async () => {
    const context = await browser.newContext();
    const page = await logIn(context, "/connect", "fay");
    const site = await startUpstream((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<iframe src="${world.base}/connect/users"></iframe>`);
    });
    await page.goto(site);
    await page.waitForLoadState("networkidle");
    const frame = page.frames().find((each) => each !== page.mainFrame());
    expect(await frame?.locator("button").count()).toBe(0);
    await context.close();
  });

  it("does not complete another person's connection", async () => {
    const [attacker, victim] = await Promise.all([browser.newContext(), browser.newContext()]);
    const page = await logIn(attacker, "/connect", "mallory");
    let callback = "";
    page.on("request", (request) => {
      if (request.url().includes("/callback?")) callback = request.url();
    });
    await page.goto(`${world.base}/connect/brief`);
    await page.click("button[value=connect]");
    await page.fill("input[name=login]", "mallory");
    await page.click("button");
    await expect.poll(() => callback).not.toBe("");
    const other = await logIn(victim, "/connect", "vera");
    const response = await other.goto(callback);
    expect(response?.status()).toBe(400);
    expect(await other.textContent("body")).toContain("was not started in this browser");
    const vera = await world.person("vera");
    expect(await world.whoAmI("brief", vera)).toContain("/connect/brief");
    await Promise.all([attacker.close(), victim.close()]);
  });
});
