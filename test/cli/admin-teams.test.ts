import type { ServerResponse } from "node:http";
import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { freePort } from "../harness/free-port.ts";
import type { GwcProcess } from "../harness/gwc.ts";
import { startScripted } from "../harness/scripted.ts";
import { describeUnless } from "../harness/skip.ts";
import { Workspace } from "../harness/workspace.ts";
import { chunk, completion, startStream, usageChunk } from "../llm/llm-upstream.ts";
import { startAdmin } from "./admin-gateway.ts";

const ADMIN_KEY = "the-key-of-the-api-for-keys";

const policy = `import { definePolicy } from "gwc/policy";

/** Refuses requests without a team. */
export default definePolicy({
  request(request) {
    if (request.headers.get("x-team") === null) return request.refuse(403, "no team");
  },
});
`;

describeUnless(missingBrowser)("the admin page for a team", () => {
  let browser: Browser;
  let url: string;
  let port: number;
  let keysPort: number;
  let running: GwcProcess;
  /** Responses of streamed completions, which the test writes. */
  const streams: ServerResponse[] = [];

  beforeAll(async () => {
    browser = await startBrowser();
    const { host } = await startScripted((response, _, { body }) => {
      if (JSON.parse(body.toString()).stream === true) {
        startStream(response);
        response.flushHeaders();
        streams.push(response);
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(completion);
      }
    });
    port = await freePort();
    keysPort = await freePort();
    const tlsPort = await freePort();
    const any = "127.0.0.1:0";
    const promptGuard = {
      request: [{ regex: { action: "reject", rules: [{ pattern: "secret project" }] } }],
    };
    const rates = { input: 1, output: 2 };
    const models = { "gpt-real": { rates }, "gpt-5": { rates } };
    const workspace = new Workspace({
      "admin.key": ADMIN_KEY,
      "policies/team.ts": policy,
      "gateway.yaml": JSON.stringify({
        config: {
          ...{ statsAddr: any, readinessAddr: any, adminAddr: any },
          usage: { by: { team: "apiKey.team" } },
          keysApi: { port: keysPort, key: { file: "admin.key" } },
          modelCatalog: [{ inline: { providers: { openai: { models } } } }],
        },
        binds: [
          {
            port,
            listeners: [
              {
                routes: [
                  {
                    name: "models",
                    matches: [{ path: { pathPrefix: "/v1" } }],
                    policies: { apiKey: { store: true } },
                    backends: [
                      {
                        ai: { name: "one", provider: { openAI: {} }, hostOverride: host },
                        policies: { ai: { promptGuard } },
                      },
                    ],
                  },
                  {
                    name: "own",
                    matches: [{ path: { pathPrefix: "/own" } }],
                    policies: {
                      custom: [{ use: "./policies/team.ts" }],
                      directResponse: { status: 200, body: "fine" },
                    },
                  },
                ],
              },
            ],
          },
          {
            port: tlsPort,
            listeners: [
              {
                ...{ protocol: "HTTPS", hostname: "api.example.com" },
                tls: { cert: "api.pem", key: "api.key" },
                routes: [{ policies: { directResponse: { status: 200, body: "fine" } } }],
              },
            ],
          },
        ],
      }),
    });
    makeCertificate(workspace.folder, "api", { names: "DNS:api.example.com", days: "5" });
    const started = await startAdmin(workspace.path("gateway.yaml"), {
      GWC_STATE_DIR: workspace.folder,
    });
    url = started.url;
    running = started.running;
  });

  async function open(part: string): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(new URL(`/ui/${part}`, url).href);
    return page;
  }

  const call = (key: string, content = "Hello") =>
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: "gpt-5", messages: [{ role: "user", content }] }),
    });

  it("makes keys with the credential of the API for keys, shows usage, and revokes keys", async () => {
    const page = await open("keys");
    await page.getByText("No keys yet").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    const create = page.getByRole("button", { name: "Create" });
    expect(await create.isDisabled()).toBe(true);
    const credential = page.getByLabel("Key of the API for keys");
    await credential.fill("a wrong key");
    await credential.fill("a-wrong-key");
    await page.getByLabel("Name").fill("ci");
    await page.getByLabel("Team").fill("red");
    await page.getByLabel("Budget").fill("50");
    await create.click();
    await page.getByRole("alert").getByText("a valid key of this API is required").waitFor();
    await credential.fill(ADMIN_KEY);
    await create.click();
    const made = page.locator(".made code");
    await made.waitFor();
    const key = (await made.textContent()) ?? "";
    expect(key).toMatch(/^gwc_/);
    const row = page.getByRole("row", { name: /^ci/ });
    await row.waitFor();
    expect(await row.textContent()).toContain("team=red");
    expect(await row.textContent()).toContain("50 US dollars/month");
    expect((await call(key)).status).toBe(200);

    await page.goto(new URL("/ui/usage", url).href);
    await page.getByLabel("First column").selectOption("team");
    await page.getByRole("cell", { name: "red" }).waitFor();
    const used = page.getByRole("row", { name: /red gpt-5/ });
    expect((await used.textContent())?.replace(/\s/g, "")).toMatch(/^redgpt-51205\$0\.0000/);

    await page.goto(new URL("/ui/keys", url).href);
    expect(await page.content()).not.toContain(key);
    await page.getByLabel("Key of the API for keys").fill(ADMIN_KEY);
    await page.getByRole("button", { name: "Edit ci" }).click();
    await page.getByLabel("Models").fill("other-*");
    await page.getByLabel("Limits").fill('[{"counts":"requests","amount":7,"period":"day"}]');
    await page.getByLabel("Expires").fill("soon");
    await page.getByText("Write the expiry as 2027-01-31.").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await page.getByLabel("Expires").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    const edited = page.getByRole("row", { name: /^ci.*other-\*.*never/ });
    await edited.waitFor();
    expect(await edited.textContent()).toContain("team=red");
    await expect.poll(async () => (await call(key)).status).toBe(403);
    await page.getByRole("button", { name: "Revoke ci" }).click();
    await page.getByRole("button", { name: "Revoke ci" }).click();
    await page.getByText("No keys yet").waitFor();
    await expect.poll(async () => (await call(key)).status).toBe(401);
    expect(running.output).not.toContain(ADMIN_KEY);
    expect(running.output).not.toContain(key);
    await page.close();
  });

  it("streams a chat as it arrives, stops it, and shows what it cost", async () => {
    const response = await fetch(`http://127.0.0.1:${keysPort}/v1/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify({ name: "chat" }),
    });
    const { key: made } = JSON.parse(await response.text());
    const page = await open("chat");
    await page.getByLabel("API key").fill(made);
    await page.getByLabel("Model").first().fill("gpt-5");
    const message = page.getByLabel("Message", { exact: true });
    await message.fill("Hello");
    await message.press("Enter");
    await expect.poll(() => streams.length).toBe(1);
    streams[0]?.write(chunk({ role: "assistant", content: "Hi <b>" }));
    const reply = page.locator(".turn.assistant").last();
    await reply.getByText("Hi <b>").waitFor();
    expect(await page.locator(".turn-facts").count()).toBe(0);
    streams[0]?.write(chunk({ content: " there" }, "stop"));
    streams[0]?.end(`${usageChunk()}data: [DONE]\n\n`);
    await page.locator(".turn-facts").waitFor();
    const facts = await page.locator(".turn-facts").textContent();
    expect(facts).toContain("20 tokens in · 5 tokens out · $0.00003");
    expect(facts).toContain("first token");

    await message.fill("Again");
    await message.press("Enter");
    await expect.poll(() => streams.length).toBe(2);
    streams[1]?.write(chunk({ role: "assistant", content: "One" }));
    await reply.getByText("One").waitFor();
    const left = new Promise((resolve) => streams[1]?.on("close", resolve));
    await page.getByRole("button", { name: "Stop" }).click();
    // The request to the provider ends with the one of the page.
    await left;
    await page.getByText("stopped").waitFor();

    await message.fill("the secret project");
    await message.press("Enter");
    await page.locator(".turn .problem").waitFor();
    expect(await page.locator(".turn .problem").textContent()).toContain("403");
    await page.close();
  });

  it("shows what guards and custom policies decided, and when certificates expire", async () => {
    for (const headers of [{}, {}, { "x-team": "red" }])
      await fetch(`http://127.0.0.1:${port}/own`, { headers });
    const page = await open("checks");
    const custom = page.getByRole("row", { name: /^team/ });
    await custom.getByText("refused 2").waitFor();
    expect(await custom.textContent()).toMatch(/^teamrequestown.*ok 1/);
    const guard = page.getByRole("row", { name: /^1\.regex/ });
    expect(await guard.textContent()).toContain("reject 1");
    await page.getByRole("link", { name: "Overview" }).first().click();
    await page.getByText("api.example.com").waitFor();
    await page.getByText("4 days left").waitFor();
    await page.getByRole("link", { name: "Graph", exact: true }).click();
    await page.getByText("custom: team").first().waitFor();
    await page.close();
  });
});
