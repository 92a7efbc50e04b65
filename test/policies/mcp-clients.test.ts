import {
  IssuerMismatchError,
  Client as ModernClient,
  ClientCredentialsProvider as ModernCredentials,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { ClientCredentialsProvider } from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed } from "@modelcontextprotocol/sdk/shared/auth.js";
import { beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import { startMcpServer } from "../harness/mcp-server.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { PatientUser } from "./patient-user.ts";

let provider: IdentityProvider;
let silent: IdentityProvider;
let server: Awaited<ReturnType<typeof startMcpServer>>;
let gateway: Gateway;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  silent = await IdentityProvider.start({ announcesIssuer: false });
  server = await startMcpServer();
  gateway = await startRoutesText(mcpRoutes(provider.issuer, server.url, silent.issuer));
});

const credentials = { clientId: "app", clientSecret: "secret" };

describe("a client that knows only the URL", () => {
  it.each(["/mcp", "/mcp/", "/mcp?tenant=a"])(
    "finds the authorization server of %s, gets a token and calls",
    async (path) => {
      const client = new Client({ name: "test", version: "1.0.0" });
      const authProvider = new ClientCredentialsProvider({
        ...credentials,
        expectedIssuer: provider.issuer,
      });
      const url = new URL(`${gateway.url}${path}`);
      const transport = new StreamableHTTPClientTransport(url, { authProvider });
      // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("hello");
      await client.close();
    },
  );

  it("succeeds with the newer SDK, which compares issuers", async () => {
    const client = new ModernClient({ name: "test", version: "1.0.0" });
    const authProvider = new ModernCredentials({
      ...credentials,
      expectedIssuer: provider.issuer,
    });
    const url = new URL(`${gateway.url}/mcp`);
    await client.connect(new ModernTransport(url, { authProvider }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("hello");
    await client.close();
  });

  it("with the newer SDK accepts the gateway as authorization server", async () => {
    const client = new ModernClient({ name: "test", version: "1.0.0" });
    const authProvider = new ModernCredentials({
      ...credentials,
      expectedIssuer: `${gateway.url}/silent/mcp`,
    });
    const url = new URL(`${gateway.url}/silent/mcp`);
    await client.connect(new ModernTransport(url, { authProvider }));
    await client.close();
  });
});

describe("a client that has to register and send its user", () => {
  it.each([
    ["/mcp", null],
    ["/keycloak/mcp", null],
    ["/silent/mcp", null],
    ["/auth0/mcp", "https://api.example"],
  ])("sends the user of %s to the provider for that resource", async (path, audience) => {
    const user = new RegisteredClient();
    const url = new URL(`${gateway.url}${path}`);
    const transport = new StreamableHTTPClientTransport(url, { authProvider: user });
    const client = new Client({ name: "test", version: "1.0.0" });
    const connecting = client.connect(transport as Parameters<typeof client.connect>[0]);
    await expect(connecting).rejects.toThrow("Unauthorized");
    expect(user.client).toMatchObject({ client_id: expect.any(String) });
    const { issuer } = path === "/silent/mcp" ? silent : provider;
    expect(user.sentTo?.origin).toBe(issuer);
    expect(user.sentTo?.searchParams.get("resource")).toBe(url.href);
    expect(user.sentTo?.searchParams.get("audience")).toBe(audience);
  });
});

describe("a client of the stateless revision with a user", () => {
  /** The client's id: the URL of a document that describes it. */
  const clientMetadataUrl = "https://client.example/oauth/client.json";

  async function sentAway(path: string) {
    const user = Object.assign(new RegisteredClient(), { clientMetadataUrl });
    const transport = new ModernTransport(new URL(`${gateway.url}${path}`), { authProvider: user });
    const client = new ModernClient({ name: "test", version: "1.0.0" });
    await expect(client.connect(transport)).rejects.toThrow();
    return { user, transport };
  }

  it.each(["/mcp", "/keycloak/mcp", "/auth0/mcp"])(
    "identifies itself to the provider of %s by its document's URL",
    async (path) => {
      const { user } = await sentAway(path);
      expect(user.sentTo?.origin).toBe(provider.issuer);
      expect(user.sentTo?.searchParams.get("client_id")).toBe(clientMetadataUrl);
    },
  );

  it.each(["/mcp", "/keycloak/mcp"])(
    "accepts only a response of the provider of %s",
    async (path) => {
      const { transport } = await sentAway(path);
      const back = (iss: string) =>
        transport.finishAuth(new URLSearchParams({ code: "none", iss }));
      await expect(back("https://attacker.example")).rejects.toThrow(IssuerMismatchError);
      // The provider does not know the code, so the issuer was accepted.
      await expect(back(provider.issuer)).rejects.not.toThrow(IssuerMismatchError);
    },
  );

  it("accepts a response without an issuer if the provider is known by the gateway's name", async () => {
    const { transport } = await sentAway("/silent/mcp");
    const back = (params: object) =>
      transport.finishAuth(new URLSearchParams({ code: "none", ...params }));
    await expect(back({ iss: silent.issuer })).rejects.toThrow(IssuerMismatchError);
    await expect(back({})).rejects.not.toThrow(IssuerMismatchError);
  });
});

/** A client of a patient user that registers itself. */
class RegisteredClient extends PatientUser implements OAuthClientProvider {
  client: OAuthClientInformationMixed | undefined;

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.client = client;
  }

  tokens(): undefined {}
}
