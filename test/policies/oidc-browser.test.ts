import type { Browser } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { describeUnless } from "../harness/skip.ts";
import { type LoginWorld, startLoginWorld } from "./oidc-world.ts";

describeUnless(missingBrowser)("a person with a real browser", () => {
  let world: LoginWorld;
  let browser: Browser;

  beforeAll(async () => {
    world = await startLoginWorld();
    browser = await startBrowser();
  });

  it("logs in, sees the requested page, and logs out", async () => {
    const { base } = world;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${base}/app/report?year=2026`);
    await page.fill("input[name=login]", "alice");
    await page.click("button");
    await page.waitForURL(`${base}/app/report?year=2026`);
    expect(await page.textContent("body")).toContain('"x-user":"alice@example.com"');

    const cookies = await context.cookies(base);
    const session = cookies.filter(({ name }) => name.startsWith("gwc-oidc-"));
    expect(session).toMatchObject([{ httpOnly: true, sameSite: "Lax", path: "/", expires: -1 }]);
    expect(await page.evaluate("document.cookie")).toBe("");

    // Requests of its scripts have the session, too, and are never redirected to the login page.
    expect(await statusIn(page, "/app/data")).toBe(200);
    await context.clearCookies({ name: /^gwc-oidc-/ });
    expect(await statusIn(page, "/app/data")).toBe(401);

    // The provider still remembers the user.
    await page.goto(`${base}/app/again`);
    expect(page.url()).toBe(`${base}/app/again`);

    await page.goto(`${base}/app/logout`);
    await page.click("button[type=submit], button[name=logout]");
    await page.waitForURL(`${base}/app-bye`);
    await page.goto(`${base}/app`);
    expect(await page.locator("input[name=login]").count()).toBe(1);
    await context.close();
  });

  it("is not logged in by a link of another person's login", async () => {
    const { base } = world;
    const attacker = await browser.newContext();
    const page = await attacker.newPage();
    // The attacker records the last step of their own login.
    let callback = "";
    page.on("request", (request) => {
      if (request.url().includes("/app-callback?")) callback = request.url();
    });
    await page.goto(`${base}/app`);
    await page.fill("input[name=login]", "mallory");
    await page.click("button");
    await expect.poll(() => callback).not.toBe("");

    const victim = await browser.newContext();
    const other = await victim.newPage();
    const response = await other.goto(callback);
    expect(response?.status()).toBe(400);
    expect(await other.textContent("body")).toContain("was not started in this browser");
    expect(await victim.cookies(base)).toEqual([]);
    await Promise.all([attacker.close(), victim.close()]);
  });
});

/** Returns the status that a script of the page gets. */
function statusIn(page: { evaluate(script: string): Promise<unknown> }, path: string) {
  return page.evaluate(`fetch(${JSON.stringify(path)}).then(({ status }) => status)`);
}
