import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { browserPath, missingBrowser } from "../harness/browser.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { describeUnless } from "../harness/skip.ts";
import { ed25519 } from "../harness/token.ts";
import { corsRoutes } from "./cors-routes.ts";

describeUnless(missingBrowser)("a page in a real browser", () => {
  let profile: string;
  let context: BrowserContext;
  let allowed: Page;
  let foreign: Page;
  let pages: Server[];
  let upstream: Echo;
  let gateway: Gateway;

  beforeAll(async () => {
    pages = [await servePage(), await servePage()];
    const [first, second] = pages.map(originOf);
    upstream = await startEcho({
      "access-control-allow-origin": "*",
      "x-shown": "1",
      "x-hidden": "1",
    });
    gateway = await startRoutesText(corsRoutes(upstream, [first ?? ""]), { "keys.json": keySet });
    profile = mkdtempSync(join(tmpdir(), "gwc-chromium-"));
    context = await chromium.launchPersistentContext(profile, {
      executablePath: browserPath,
      headless: true,
      args: flags,
    });
    allowed = await open(context, first);
    foreign = await open(context, second);
  });

  afterAll(async () => {
    await context?.close();
    for (const page of pages ?? []) page.close();
    rmSync(profile, { recursive: true, force: true });
  });

  it("from an allowed origin reads a response after a preflight", async () => {
    const found = await fetchIn(allowed, `${gateway.url}/listed`, {
      method: "PUT",
      headers: { "x-asked": "1" },
    });
    // No token was sent, so the preflight passed and the refusal is readable.
    expect(found).toMatchObject({ status: 401, body: missing });
  });

  it("from an allowed origin reads the upstream's response and its exposed headers", async () => {
    const found = await fetchIn(allowed, `${gateway.url}/any`, {});
    expect(found).toMatchObject({ status: 200, shown: null, hidden: null });
    expect(await fetchIn(allowed, `${gateway.url}/simple`, {})).toMatchObject({
      status: 200,
      shown: "1",
      hidden: null,
    });
  });

  it("from an allowed origin can't send a header that is not listed", async () => {
    const before = upstream.count();
    const found = await fetchIn(allowed, `${gateway.url}/listed`, {
      headers: { "x-unlisted": "1" },
    });
    expect(found).toBe("TypeError: Failed to fetch");
    expect(upstream.count()).toBe(before);
  });

  it("from an allowed origin can't use a method that is not listed", async () => {
    const found = await fetchIn(allowed, `${gateway.url}/listed`, { method: "DELETE" });
    expect(found).toBe("TypeError: Failed to fetch");
  });

  it("from another origin can't read, even if the upstream allows it", async () => {
    expect(await fetchIn(foreign, `${gateway.url}/simple`, {})).toBe("TypeError: Failed to fetch");
  });

  it("from another origin can't send requests that need a preflight", async () => {
    const before = upstream.count();
    const found = await fetchIn(foreign, `${gateway.url}/listed`, { method: "PUT" });
    expect(found).toBe("TypeError: Failed to fetch");
    expect(upstream.count()).toBe(before);
  });

  it("from another origin reads responses for any origin", async () => {
    expect(await fetchIn(foreign, `${gateway.url}/any`, {})).toMatchObject({ status: 200 });
  });
});

/** The key set of a key that signs no token. */
const keySet = JSON.stringify({ keys: [ed25519] });

const missing = "authentication failure: no bearer token found";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

async function servePage(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<title>page</title>");
  });
  await listen(server);
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function open(context: BrowserContext, url = ""): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

interface PageRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** Runs a script in the page and returns the response or the error that it sees. */
async function fetchIn(page: Page, url: string, init: PageRequest) {
  return page.evaluate(
    async ([url, init]) => {
      try {
        const response = await fetch(url, init);
        return {
          status: response.status,
          body: await response.text(),
          shown: response.headers.get("x-shown"),
          hidden: response.headers.get("x-hidden"),
        };
      } catch (error) {
        return String(error);
      }
    },
    [url, init] as const,
  );
}
