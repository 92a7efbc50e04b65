import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { everythingScript } from "../harness/everything-server.ts";
import { freePort } from "../harness/free-port.ts";
import { listen } from "../harness/listen.ts";
import { describeUnless } from "../harness/skip.ts";
import { Workspace } from "../harness/workspace.ts";
import { consoleOf, startAdmin } from "./admin-gateway.ts";

/** Starts a server with sessions whose tool asks on the stream of the session instead of that of the call. */
async function startSessionAsker(): Promise<string> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const known = transports.get(String(request.headers["mcp-session-id"]));
    if (known !== undefined) return known.handleRequest(request, response);
    const server = new McpServer({ name: "asker", version: "1.0.0" });
    server.registerTool("ask", {}, async () => {
      const { action, content } = await server.server.elicitInput({
        message: "Which color?",
        requestedSchema: { type: "object", properties: { color: { type: "string" } } },
      });
      return { content: [{ type: "text", text: `${action} ${content?.color ?? ""}` }] };
    });
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  });
  return `http://127.0.0.1:${await listen(http)}`;
}

describeUnless(missingBrowser)("questions of servers in sessions of the playground", () => {
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    browser = await startBrowser();
    const any = "127.0.0.1:0";
    const everything = { cmd: process.execPath, args: [everythingScript()] };
    const routes = [
      { name: "everything", target: { stdio: everything } },
      { name: "asker", target: { mcp: { host: await startSessionAsker() } } },
    ].map(({ name, target }) => ({
      name,
      matches: [{ path: { exact: `/${name}` } }],
      backends: [{ mcp: { targets: [{ name: "a", ...target }] } }],
    }));
    const workspace = new Workspace({
      "gateway.yaml": JSON.stringify({
        config: { statsAddr: any, readinessAddr: any, adminAddr: any },
        gateways: { default: { port: await freePort() } },
        routes,
      }),
    });
    ({ url } = await startAdmin(workspace.path("gateway.yaml")));
  });

  /** Calls a tool of a route, and returns its question. */
  async function ask(page: Page, route: string, tool: string) {
    await page.goto(new URL(`/ui/tools/${route}`, url).href);
    await page.getByRole("button", { name: "List tools" }).click();
    await page.locator(".choices").getByRole("button", { name: tool }).first().click();
    await page.getByRole("button", { name: "Call tool" }).click();
    const question = page.locator("section", { hasText: "The server asks" }).last();
    await question.waitFor();
    return question;
  }

  async function result(page: Page, part: string): Promise<string> {
    const shown = page.locator("section.result", { hasText: part }).last();
    await shown.waitFor();
    return (await shown.textContent()) ?? "";
  }

  it("are answered in a form, and the call continues", async () => {
    const page = await browser.newPage();
    const lines = consoleOf(page);
    const question = await ask(page, "everything", "trigger-elicitation-request");
    await question.getByText("Please provide inputs").waitFor();
    await question.locator("input").first().fill("Ann");
    await question.getByRole("button", { name: "Respond" }).click();
    await question.waitFor({ state: "detached" });
    expect(await result(page, "User inputs")).toContain("Name: Ann");
    expect(lines).toEqual([]);
    await page.close();
  });

  it("are declined", async () => {
    const page = await browser.newPage();
    const question = await ask(page, "everything", "trigger-elicitation-request");
    await question.getByRole("button", { name: "Decline" }).click();
    expect(await result(page, "declined")).toContain("User declined");
    await page.close();
  });

  it("may come on the stream of the session", async () => {
    const page = await browser.newPage();
    const question = await ask(page, "asker", "ask");
    await question.getByText("Which color?").waitFor();
    await question.locator("input").first().fill("green");
    await question.getByRole("button", { name: "Respond" }).click();
    expect(await result(page, "accept")).toContain("accept green");
    await page.close();
  });

  it("take an answer once, and with the state of the question only", async () => {
    const page = await browser.newPage();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.postData() ?? ""));
    const question = await ask(page, "asker", "ask");
    await question.getByRole("button", { name: "Respond" }).click();
    await result(page, "accept");
    const answer = sent.findLast((body) => body.includes("requestState")) ?? "";
    const repeated = await page.evaluate(
      `fetch("/ui/api/try", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-gwc-page": document.querySelector("meta[name=gwc-page-key]").content,
        },
        body: ${JSON.stringify(answer)},
      }).then((response) => response.text())`,
    );
    expect(repeated).toContain("the call has ended");
    await page.close();
  });
});
