import { createServer } from "node:http";
import {
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from "@modelcontextprotocol/ext-apps/server";
import type { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { serveFetch } from "../harness/serve-fetch.ts";
import { describeUnless } from "../harness/skip.ts";
import { corsFor, pageOf, startHostPage } from "./app-pages.ts";
import { connectSession } from "./session-client.ts";
import { connectStateless } from "./stateless-client.ts";

const eras = ["sessions", "stateless"] as const;
let gateway: Gateway;
let page: string;

/** Starts a server with an app, and returns its address. */
async function startAppServer(name: string, view: string): Promise<string> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name, version: "1" });
    const ui = { resourceUri: "ui://app/main.html" };
    const open = { description: "Opens the app", _meta: { ui } };
    registerAppTool(server, "open", open, () => ({
      content: [{ type: "text", text: `opened at ${name}` }],
      _meta: { ui },
    }));
    const roll = { inputSchema: z.object({ sides: z.number() }) };
    server.registerTool(`roll${name === "dice" ? "" : `-${name}`}`, roll, ({ sides }) => ({
      content: [{ type: "text", text: `${name} of ${sides}` }],
    }));
    registerAppResource(server, "Main", "ui://app/main.html", {}, ({ href: uri }) => ({
      contents: [{ uri, mimeType: RESOURCE_MIME_TYPE, text: view }],
    }));
    return server;
  });
  const server = createServer(serveFetch((request) => handler.fetch(request)));
  return `http://127.0.0.1:${await listen(server)}/mcp`;
}

beforeAll(async () => {
  const view = await pageOf("app-view.mjs");
  page = await startHostPage();
  const targets = [
    { name: "cards", mcp: { host: await startAppServer("cards", view) } },
    { name: "dice", mcp: { host: await startAppServer("dice", view) } },
  ];
  const cors = corsFor(page);
  const rules = ['mcp.tool.target == "dice"', 'mcp.resource.target == "dice"'];
  const route = (exact: string, mcp: object, policies: object = {}) => ({
    matches: [{ path: { exact } }],
    policies: { cors, ...policies },
    backends: [{ mcp: { targets, ...mcp } }],
  });
  gateway = await startGateway({
    listeners: [
      {
        routes: [
          route("/merged", {}),
          route("/plain", { prefixMode: "never" }),
          route("/only", { prefixMode: "never" }, { mcpAuthorization: { rules } }),
          route("/alone", { targets: [targets[1]], prefixMode: "always" }),
          route(
            "/ruled",
            {},
            {
              mcpAuthorization: { rules: ["true", { deny: 'mcp.resource.target == "cards"' }] },
            },
          ),
        ],
      },
    ],
  });
});

async function connect(era: (typeof eras)[number], path: string): Promise<SessionClient> {
  const url = `${gateway.url}${path}`;
  return era === "sessions"
    ? await connectSession(url, {})
    : // The SDKs' types of results differ in what nobody here reads.
      ((await connectStateless(url)) as unknown as SessionClient);
}

describe.each(eras)("apps of merged servers, for clients of %s", (era) => {
  it.each([
    ["/merged", "cards_open"],
    ["/plain", "open"],
  ])("keep their scheme at %s in lists, results and contents", async (path, name) => {
    const client = await connect(era, path);
    const uri = "ui://cards/app/main.html";
    const tool = (await client.listTools()).tools.find((each) => each.name === name);
    expect(tool?._meta).toMatchObject({ ui: { resourceUri: uri }, "ui/resourceUri": uri });
    const { resources } = await client.listResources();
    expect(resources.map((each) => each.uri)).toEqual([uri, "ui://dice/app/main.html"]);
    const { contents } = await client.readResource({ uri });
    expect(contents[0]).toMatchObject({ uri, mimeType: RESOURCE_MIME_TYPE });
    const result = await client.callTool({ name, arguments: {} });
    expect(result._meta).toMatchObject({ ui: { resourceUri: uri } });
  });

  it("have a prefix where a single server has one", async () => {
    const client = await connect(era, "/alone");
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["ui://dice/app/main.html"]);
  });

  it("are subject to rules about their own server", async () => {
    const client = await connect(era, "/ruled");
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["ui://dice/app/main.html"]);
    for (const uri of [
      "ui://cards/app/main.html",
      "cards+ui://app/main.html",
      "ui://app/main.html",
    ])
      await expect(client.readResource({ uri })).rejects.toThrow(`Unknown resource: ${uri}`);
  });
});

describeUnless(missingBrowser)("a page that hosts apps, in a real browser", () => {
  it("renders an app from behind two merged servers, and the app calls a tool", async () => {
    const browser = await startBrowser();
    const tab = await (await browser.newContext()).newPage();
    await tab.goto(page);
    await tab.waitForFunction("typeof render === 'function'");
    const uri = await tab.evaluate(`render(${JSON.stringify(`${gateway.url}/only`)}, "open")`);
    expect(uri).toBe("ui://dice/app/main.html");
    const app = tab.frameLocator("iframe");
    expect(await app.locator("#opened").textContent()).toContain("opened at dice");
    expect(await app.locator("#called").textContent()).toContain("dice of 6");
  });
});
