import {
  Client as ModernClient,
  ClientCredentialsProvider as ModernCredentials,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { post, type RawResponse, toolCall } from "../mcp/raw-client.ts";
import { ask, revision } from "../mcp/stateless-client.ts";
import { PatientUser } from "./patient-user.ts";

let provider: IdentityProvider;
let gateway: Gateway;

const scopes = 'jwt.scope.split(" ")';

beforeAll(async () => {
  provider = await IdentityProvider.start();
  const server = await startMcpServer();
  const route = (name: string, policies: string, mode = "strict") => `
- name: ${name}
  matches: [{ path: { pathPrefix: /${name} } }]
  policies:
    mcpAuthentication:
      mode: ${mode}
      issuer: ${provider.issuer}
      audiences: [https://api.example]
      jwks: { url: "${provider.issuer}/jwks" }
    ${policies}
  backends: [{ mcp: { targets: [{ name: main, mcp: { host: "${server.url}" } }] } }]
`;
  const rules = `mcpAuthorization:
      rules:
        - require: mcp.tool.name != "add" || "add" in ${scopes}
        - require: '!mcp.tool.name.startsWith("dr") || (${scopes}.exists(s, s in ["root", "drop"]) && jwt.scope.contains("add"))'
        - deny: mcp.tool.name == "hidden"
        - mcp.tool.name in ["hello", "add", "drop", "dream", "hidden"]`;
  gateway = await startRoutesText(
    [
      route("items", rules),
      route("optional", rules, "optional"),
      route(
        "whole",
        `authorization: { rules: [{ require: '"add" in ${scopes}' }, { deny: 'request.path == "/whole/no"' }] }`,
      ),
      route("other", `authorization: { rules: ['"add" in ${scopes}'] }`),
      `
- name: plain
  matches: [{ path: { pathPrefix: /plain } }]
  policies:
    jwtAuth: { issuer: "${provider.issuer}", audiences: [https://api.example], jwks: { url: "${provider.issuer}/jwks" } }
    ${rules}
  backends: [{ mcp: { targets: [{ name: main, mcp: { host: "${server.url}" } }] } }]
`,
    ].join(""),
  );
});

const bearer = async (scope: string) => ({
  authorization: `Bearer ${await provider.token(scope)}`,
});

const challengeOf = ({ status, headers }: RawResponse) => [status, headers["www-authenticate"]];

/** The response that names the missing scopes. */
const lacking = (scope: string, path: string) => [
  403,
  `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${gateway.url}/.well-known/oauth-protected-resource${path}"`,
];

describe("a token without the scopes that a tool requires", () => {
  it.each([
    ["add", "use", "use add"],
    ["drop", "use", "use add root"],
    ["drop", "use add", "use add root"],
    ["add", "openid use", "use add"],
    // No server has it: the rules decide, without a call.
    ["dream", "use", "use add root"],
  ])("gets those for %s in addition to its own (%s)", async (name, held, scope) => {
    const headers = await bearer(held);
    const response = await ask(`${gateway.url}/items`, "tools/call", { name }, headers);
    expect(challengeOf(response)).toEqual(lacking(scope, "/items"));
    expect(JSON.parse(response.text)).toMatchObject({ id: 1, error: { code: -32000 } });
  });

  it("gets the same in a session", async () => {
    const headers = { ...(await bearer("use")), "mcp-protocol-version": "2025-11-25" };
    const response = await post(`${gateway.url}/items`, toolCall("add"), headers);
    expect(challengeOf(response)).toEqual(lacking("use add", "/items"));
  });

  it("gets an unknown tool if no scope would help", async () => {
    for (const name of ["hidden", "nothing"]) {
      const headers = await bearer("use");
      const response = await ask(`${gateway.url}/items`, "tools/call", { name }, headers);
      expect([response.status, JSON.parse(response.text).error]).toMatchObject([
        200,
        { code: -32602, message: `Unknown tool: ${name}` },
      ]);
    }
  });

  it("gets an unknown tool without a token or a source of tokens", async () => {
    for (const [path, headers] of [
      ["/optional", {}],
      ["/plain", await bearer("use")],
    ] as const) {
      const response = await ask(`${gateway.url}${path}`, "tools/call", { name: "add" }, headers);
      expect([response.status, JSON.parse(response.text).error.code]).toEqual([200, -32602]);
    }
  });

  it("does not see the tool in a list", async () => {
    const headers = { ...(await bearer("use")), "mcp-protocol-version": revision };
    const response = await ask(`${gateway.url}/items`, "tools/list", {}, headers);
    expect([response.text.includes('"hello"'), response.text.includes('"add"')]).toEqual([
      true,
      false,
    ]);
  });
});

describe("a token without the scopes that a route requires", () => {
  it("gets them", async () => {
    const response = await ask(`${gateway.url}/whole`, "tools/list", {}, await bearer("use"));
    expect(challengeOf(response)).toEqual(lacking("use add", "/whole"));
    const enough = await ask(`${gateway.url}/whole`, "tools/list", {}, await bearer("use add"));
    expect(enough.status).toBe(200);
  });

  it("gets no scopes if other rules refuse it, too, or scopes are one of several ways", async () => {
    for (const path of ["/whole/no", "/other"]) {
      const response = await ask(`${gateway.url}${path}`, "tools/list", {}, await bearer("use"));
      expect(challengeOf(response)).toEqual([403, undefined]);
    }
  });
});

describe("a client that can request more", () => {
  it("sends its user to the provider for it, with the SDK of sessions", async () => {
    const user = new UserWithToken(await provider.token("use"));
    const url = new URL(`${gateway.url}/items`);
    const transport = new StreamableHTTPClientTransport(url, { authProvider: user });
    const client = new Client({ name: "test", version: "1.0.0" });
    // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    await expect(client.callTool({ name: "add" })).rejects.toThrow("Unauthorized");
    expect(user.sentTo?.origin).toBe(provider.issuer);
    expect(user.sentTo?.searchParams.get("scope")).toBe("use add");
    await client.close();
  });

  it("does so by itself, with the newer SDK", async () => {
    const client = new ModernClient({ name: "test", version: "1.0.0" });
    const authProvider = new ModernCredentials({
      clientId: "app",
      clientSecret: "secret",
      expectedIssuer: provider.issuer,
    });
    const url = new URL(`${gateway.url}/items`);
    await client.connect(new ModernTransport(url, { authProvider }));
    expect(JSON.stringify(await client.callTool({ name: "add" }))).toContain('"text":"add"');
    await client.close();
  });
});

/** A patient user who has a token. */
class UserWithToken extends PatientUser implements OAuthClientProvider {
  readonly #token: string;

  constructor(token: string) {
    super();
    this.#token = token;
  }

  clientInformation() {
    return { client_id: "app", client_secret: "secret" };
  }

  tokens() {
    return { access_token: this.#token, token_type: "Bearer" };
  }
}
