import { createServer } from "node:http";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { missingBrowser, startBrowser } from "../harness/browser.ts";
import { startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { startKeycloak } from "../harness/keycloak.ts";
import { listen } from "../harness/listen.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { describeUnless, NOT_LONG } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { textOf } from "./connection-world.ts";
import { ClientOfPerson } from "./front-world.ts";

const SECRET = "the secret of all clients";

let base: string;
let issuer: string;
let browser: Browser;

/** The audience that Keycloak writes into access tokens of a client: it knows no resource indicators. */
const audience = (name: string) => ({
  ...{ name: "audience", protocol: "openid-connect", protocolMapper: "oidc-audience-mapper" },
  config: { "included.custom.audience": name, "access.token.claim": "true" },
});

function client(clientId: string, redirect: string, more: object = {}) {
  const redirectUris = [`${base}${redirect}`];
  return { clientId, secret: SECRET, redirectUris, publicClient: false, ...more };
}

/** Starts an MCP server whose tool tells the user of the token, which it verifies. Returns its URL. */
async function startWhoAmI(issuerOf: () => string): Promise<string> {
  let url = "";
  const server = createServer(async (request, response) => {
    const keys = createRemoteJWKSet(new URL(`${issuerOf()}/protocol/openid-connect/certs`));
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const checks = { issuer: issuerOf(), audience: url };
    const verified = await jwtVerify(token, keys, checks).catch(() => undefined);
    if (verified === undefined) {
      response.writeHead(401).end();
      return;
    }
    const { preferred_username: user } = verified.payload;
    const tools = new McpServer({ name: "test", version: "1" });
    tools.registerTool("whoami", {}, () => ({ content: [{ type: "text", text: String(user) }] }));
    const transport = new StreamableHTTPServerTransport({});
    response.on("close", () => void tools.close());
    // The SDK's optional members are typed without undefined, which exactOptionalPropertyTypes rejects.
    await tools.connect(transport as Parameters<typeof tools.connect>[0]);
    await transport.handleRequest(request, response);
  });
  url = `http://127.0.0.1:${await listen(server)}/mcp`;
  return url;
}

describeUnless(missingBrowser ?? NOT_LONG)("with a real Keycloak and a real browser", () => {
  beforeAll(async () => {
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    const whoAmI = await startWhoAmI(() => issuer);
    const credentials = [{ type: "password", value: "pw", temporary: false }];
    const person = { firstName: "A", lastName: "B", email: "ann@example.com", emailVerified: true };
    const realm = {
      ...{ realm: "test", enabled: true, sslRequired: "none" },
      // Users that are imported have no default roles; tokens that outlive the login need one of them.
      users: [
        {
          username: "ann",
          enabled: true,
          credentials,
          realmRoles: ["default-roles-test"],
          ...person,
        },
      ],
      clients: [
        client("connect", "/connect/login", {
          attributes: {
            "backchannel.logout.url": `${base}/connect/ended-by-provider`,
            "backchannel.logout.session.required": "true",
          },
        }),
        client("token", "/token/login"),
        client("tools", "/connect/tools/callback", {
          consentRequired: true,
          protocolMappers: [audience(whoAmI)],
        }),
        client("front", "/oauth/callback", { protocolMappers: [audience(`${base}/mcp`)] }),
      ],
    };
    const [keycloak, opened, echo, tools] = await Promise.all([
      startKeycloak(realm),
      startBrowser(),
      startEcho(),
      startMcpServer(),
    ]);
    ({ issuer } = keycloak);
    browser = opened;
    const jwks = { url: `${issuer}/protocol/openid-connect/certs` };
    const oidc = (clientId: string, more: object = {}) => ({
      ...{ issuer, clientId, clientSecret: "${SECRET}", ...more },
      redirectURI: `${base}/${clientId}/login`,
    });
    const page = `${base}/connect`;
    const oauth = { connection: "tools", page };
    const logout = {
      ...{ path: "/connect/logout", local: true },
      backChannelPath: "/connect/ended-by-provider",
    };
    const servers = [
      {
        ...{ name: "tools", resource: whoAmI, issuer },
        ...{ clientId: "tools", clientSecret: "${SECRET}" },
      },
    ];
    const routes = [
      {
        name: "connect",
        matches: [{ path: { pathPrefix: "/connect" } }],
        policies: { oidc: oidc("connect", { logout }), userConnections: { url: page, servers } },
      },
      {
        name: "token",
        matches: [{ path: { pathPrefix: "/token" } }],
        policies: { oidc: oidc("token"), backendAuth: { passthrough: {} } },
        backends: [{ host: new URL(echo.url).host }],
      },
      {
        name: "tools",
        matches: [{ path: { exact: "/tools" } }],
        policies: { jwtAuth: { issuer, audiences: ["token"], jwks } },
        backends: [
          {
            mcp: {
              targets: [{ name: "t", mcp: { host: whoAmI }, policies: { backendAuth: { oauth } } }],
            },
          },
        ],
      },
      {
        name: "front",
        matches: [{ path: { exact: "/mcp" } }],
        policies: {
          mcpAuthentication: {
            ...{ issuer, audiences: [`${base}/mcp`], jwks },
            ...{ clientId: "front", clientSecret: "${SECRET}" },
            authorizationServer: {
              url: `${base}/oauth`,
              redirectURIs: ["http://127.0.0.1/*"],
            },
          },
        },
        backends: [{ mcp: { targets: [{ name: "t", mcp: { host: `${tools.url}/mcp` } }] } }],
      },
    ];
    await startGateway({
      config: { config: { workerThreads: 2 }, binds: [{ port, listeners: [{ routes }] }] },
      env: { SECRET, SESSION_KEY: "5e".repeat(32), GWC_STATE_DIR: temporaryFolder({}) },
    });
  }, 600_000);

  /** Logs in at Keycloak. */
  async function logIn(page: Page): Promise<void> {
    await page.fill("#username", "ann");
    await page.fill("#password", "pw");
    await page.click("#kc-login");
  }

  it("a person connects an account, programs use it, and a logout at Keycloak ends it", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${base}/connect/tools`);
    await logIn(page);
    await page.waitForURL(`${base}/connect/tools`);
    await page.click("button[value=connect]");
    await page.click("#kc-login");
    await page.waitForURL(/\/callback\?/);
    expect(await page.textContent("h1")).toContain("tools is connected");
    await page.goto(`${base}/token/x`);
    const { headers } = JSON.parse((await page.textContent("body")) ?? "");
    const { authorization } = headers as { readonly authorization: string };
    const program = new Client({ name: "program", version: "1" });
    const requestInit = { headers: { authorization } };
    const transport = new StreamableHTTPClientTransport(new URL(`${base}/tools`), { requestInit });
    await program.connect(transport as Parameters<typeof program.connect>[0]);
    const whoAmI = async () => textOf(await program.callTool({ name: "whoami" }));
    expect(await whoAmI()).toBe("ann");

    await page.goto(`${issuer}/protocol/openid-connect/logout`);
    await page.click("#kc-logout");
    await expect.poll(whoAmI).toContain("/connect/tools");
    await page.goto(`${base}/connect`);
    expect(page.url()).toContain(issuer);
    await context.close();
  });

  it("an MCP client registers at the gateway, and its person logs in at Keycloak", async () => {
    const opened: URL[] = [];
    const own = createServer((request, response) => {
      opened.push(new URL(request.url ?? "", "http://127.0.0.1"));
      response.end("You can close this page.");
    });
    const redirect = `http://127.0.0.1:${await listen(own)}/callback`;
    const authProvider = new ClientOfPerson("Program", redirect);
    const connect = () => {
      const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { authProvider });
      const program = new Client({ name: "program", version: "1" });
      const done = program.connect(transport as Parameters<typeof program.connect>[0]);
      return { program, transport, done };
    };
    const first = connect();
    await expect(first.done).rejects.toThrow(UnauthorizedError);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(authProvider.sentTo?.href ?? "");
    expect(await page.textContent("#client")).toBe("Program");
    await page.click("button[value=allow]");
    await logIn(page);
    await page.waitForURL(`${redirect}?*`);
    const code = opened.find(({ searchParams }) => searchParams.has("code"));
    await first.transport.finishAuth(code?.searchParams.get("code") ?? "");
    const { program, done } = connect();
    await done;
    const { tools } = await program.listTools();
    expect(tools.map(({ name }) => name)).toContain("hello");
    await context.close();
  });
});
