import { createServer } from "node:http";
import type { Browser } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { listen } from "../harness/listen.ts";
import { describeUnless } from "../harness/skip.ts";
import {
  authorizeUrl,
  type FrontWorld,
  freshPkce,
  register,
  requestTokens,
  startFrontWorld,
} from "./front-world.ts";

describeUnless(missingBrowser)("a person with a real browser", () => {
  let world: FrontWorld;
  let browser: Browser;
  /** Redirect URI of a program that listens on loopback. */
  let redirectUri: string;

  beforeAll(async () => {
    const [started, opened] = await Promise.all([startFrontWorld(), startBrowser()]);
    [world, browser] = [started, opened];
    const program = createServer((_, response) => response.end("You can close this page."));
    redirectUri = `http://127.0.0.1:${await listen(program)}/callback`;
  });

  it("sees who asks, allows it, logs in, and arrives at the program with a code for it", async () => {
    const name = "<img src=x onerror=document.title='hacked'>";
    const { id } = await register(world, { client_name: name, redirect_uris: [redirectUri] });
    const pkce = freshPkce();
    const context = await browser.newContext();
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) problems.push(message.text());
    });
    await page.goto(authorizeUrl(world, id, pkce, { redirect_uri: redirectUri }));
    expect(await page.title()).toBe("Allow this program?");
    expect(await page.textContent("#client")).toBe(name);
    expect(await page.textContent("#redirect")).toBe(
      `this computer (${new URL(redirectUri).host})`,
    );
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.click("button[value=allow]");
    await page.fill("input[name=login]", "ann");
    await page.click("button");
    await page.waitForURL(`${redirectUri}?*`);
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("state"), searchParams.get("iss")]).toEqual(["s", world.url]);
    const { status } = await requestTokens(world, {
      grant_type: "authorization_code",
      code: searchParams.get("code") ?? "",
      client_id: id,
      redirect_uri: redirectUri,
      code_verifier: pkce.verifier,
    });
    expect(status).toBe(200);
    // The provider remembers the person, but the page asks again.
    await page.goto(authorizeUrl(world, id, pkce, { redirect_uri: redirectUri }));
    await page.click("button[value=allow]");
    await page.waitForURL(`${redirectUri}?*`);
    await page.goto(authorizeUrl(world, id, pkce, { redirect_uri: redirectUri }));
    await page.click("button[value=deny]");
    await page.waitForURL(`${redirectUri}?error=access_denied*`);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("is not tricked by a page that frames the question or sends its form", async () => {
    const { id } = await register(world, { client_name: "Evil", redirect_uris: [redirectUri] });
    const start = authorizeUrl(world, id, freshPkce(), { redirect_uri: redirectUri });
    const question = await (await fetch(start)).text();
    const sealed = /name="request" value="([^"]*)"/.exec(question)?.[1] ?? "";
    const evil = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      if (request.url === "/frame")
        response.end(`<iframe src="${start.replaceAll("&", "&amp;")}"></iframe>`);
      else
        response.end(
          `<form method="post" action="${world.url}/consent"><input name="request" value="${sealed}"><button name="decision" value="allow">Win</button></form>`,
        );
    });
    // Another site than 127.0.0.1.
    const site = `http://localhost:${await listen(evil)}`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(start);
    await page.goto(`${site}/frame`);
    const framed = page.frames().find((frame) => frame !== page.mainFrame());
    expect(await framed?.locator("button").count()).toBe(0);
    await page.goto(`${site}/form`);
    const [response] = await Promise.all([
      page.waitForResponse(`${world.url}/consent`),
      page.click("button"),
    ]);
    expect(response.status()).toBe(403);
    await context.close();
  });
});
