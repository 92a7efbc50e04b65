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

describe("a client that knows nothing but the URL", () => {
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
      // The SDK's own type says its sessionId is optional, which exactOptionalPropertyTypes takes by its word.
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("hello");
      await client.close();
    },
  );

  it("does so with the newer SDK, which compares issuers", async () => {
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

describe("a client that has to register and ask its user", () => {
  it.each([
    ["/mcp", null],
    ["/keycloak/mcp", null],
    ["/silent/mcp", null],
    ["/auth0/mcp", "https://api.example"],
  ])("sends the user of %s to the provider, for that resource", async (path, audience) => {
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

describe("a client of the stateless revision that asks its user", () => {
  /** Who it is says a document that stands at its id. */
  const clientMetadataUrl = "https://client.example/oauth/client.json";

  async function sentAway(path: string) {
    const user = Object.assign(new RegisteredClient(), { clientMetadataUrl });
    const transport = new ModernTransport(new URL(`${gateway.url}${path}`), { authProvider: user });
    const client = new ModernClient({ name: "test", version: "1.0.0" });
    await expect(client.connect(transport)).rejects.toThrow();
    return { user, transport };
  }

  it.each(["/mcp", "/keycloak/mcp", "/auth0/mcp"])(
    "names itself to the provider of %s by its document's URL, and registers nowhere",
    async (path) => {
      const { user } = await sentAway(path);
      expect(user.sentTo?.origin).toBe(provider.issuer);
      expect(user.sentTo?.searchParams.get("client_id")).toBe(clientMetadataUrl);
    },
  );

  it.each(["/mcp", "/keycloak/mcp"])(
    "takes a response of the provider's of %s, and of nobody else",
    async (path) => {
      const { transport } = await sentAway(path);
      const back = (iss: string) =>
        transport.finishAuth(new URLSearchParams({ code: "none", iss }));
      await expect(back("https://attacker.example")).rejects.toThrow(IssuerMismatchError);
      // The provider does not know the code: the issuer was no matter.
      await expect(back(provider.issuer)).rejects.not.toThrow(IssuerMismatchError);
    },
  );

  it("takes a response without a name where the provider is known by the gateway's", async () => {
    const { transport } = await sentAway("/silent/mcp");
    const back = (params: object) =>
      transport.finishAuth(new URLSearchParams({ code: "none", ...params }));
    await expect(back({ iss: silent.issuer })).rejects.toThrow(IssuerMismatchError);
    await expect(back({})).rejects.not.toThrow(IssuerMismatchError);
  });
});

/** A patient user's client that registers itself. */
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
