import { request } from "undici";
import { beforeAll, describe, expect, it } from "vitest";
import { call, callWith } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { IdentityProvider } from "../harness/identity-provider.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { send } from "../harness/send.ts";
import { mcpRoutes } from "./mcp-routes.ts";

let provider: IdentityProvider;
let upstream: Echo;
let gateway: Gateway;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  const silent = await IdentityProvider.start({ announcesIssuer: false });
  upstream = await startEcho();
  gateway = await startRoutesText(mcpRoutes(provider.issuer, upstream.url, silent.issuer));
});

async function document(path: string, headers: Record<string, string> = {}) {
  const { status, body } = await call(`${gateway.url}${path}`, headers);
  expect(status).toBe(200);
  return JSON.parse(body);
}

describe("a request without a valid token", () => {
  const where = (rest: string) => `${gateway.url}/.well-known/oauth-protected-resource${rest}`;

  it.each([
    ["/mcp", "/mcp"],
    ["/mcp/", "/mcp/"],
    ["/mcp?tenant=a", "/mcp?tenant=a"],
    ['/mcp/a"b', "/mcp/a%22b"],
  ])("to %s gets the URL of the metadata", async (path, rest) => {
    const { status, headers } = await callWith(`${gateway.url}${path}`, undefined);
    expect(status).toBe(401);
    expect(headers["www-authenticate"]).toBe(
      `Bearer scope="use", resource_metadata="${where(rest)}"`,
    );
  });

  it("to the root gets the URL of metadata without a path", async () => {
    const { headers } = await call(gateway.url, { host: "root.test" });
    const url = "http://root.test/.well-known/oauth-protected-resource";
    expect(headers["www-authenticate"]).toBe(`Bearer scope="use", resource_metadata="${url}"`);
    const { resource } = await document("/.well-known/oauth-protected-resource", {
      host: "root.test",
    });
    expect(resource).toBe("http://root.test");
  });

  it("learns that its token is invalid", async () => {
    const { headers } = await callWith(`${gateway.url}/mcp`, "abc");
    const expected = `Bearer error="invalid_token", scope="use", resource_metadata="${where("/mcp")}"`;
    expect(headers["www-authenticate"]).toBe(expected);
  });

  it("gets a JSON-RPC error on an MCP route", async () => {
    const { headers, body } = await callWith(`${gateway.url}/mcp`, undefined);
    expect(headers["content-type"]).toBe("application/json");
    const error = { code: -32000, message: "authentication failure: no bearer token found" };
    expect(JSON.parse(body)).toEqual({ jsonrpc: "2.0", error, id: null });
  });

  it("passes in optional mode only without any token", async () => {
    // After the check, the MCP endpoint refuses a GET that accepts no event stream.
    expect((await callWith(`${gateway.url}/optional`, undefined)).status).toBe(406);
    expect((await callWith(`${gateway.url}/optional`, "abc")).status).toBe(401);
    expect((await callWith(`${gateway.url}/optional`, await provider.token())).status).toBe(406);
  });
});

describe("the protected-resource metadata", () => {
  const wellKnown = "/.well-known/oauth-protected-resource";

  it.each(["/mcp", "/mcp/", "/mcp/deeper", "/mcp?tenant=a"])(
    "of the URL ending in %j contains exactly that URL",
    async (rest) => {
      expect(await document(`${wellKnown}${rest}`)).toMatchObject({
        resource: `${gateway.url}${rest}`,
        authorization_servers: [provider.issuer],
        bearer_methods_supported: ["header"],
        scopes_supported: ["use"],
      });
    },
  );

  it("contains the host that the client used, and https if TLS ends before the gateway", async () => {
    const headers = { host: "mcp.example.com", "x-forwarded-proto": "https" };
    const { resource } = await document(`${wellKnown}/mcp`, headers);
    expect(resource).toBe("https://mcp.example.com/mcp");
    const response = await call(`${gateway.url}/mcp`, headers);
    expect(response.headers["www-authenticate"]).toBe(
      'Bearer scope="use", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
    );
  });

  it.each(["ftp", "https, http", 'https"'])("ignores a forwarded scheme of %j", async (scheme) => {
    const { resource } = await document(`${wellKnown}/mcp`, { "x-forwarded-proto": scheme });
    expect(resource).toBe(`${gateway.url}/mcp`);
  });

  it("contains members of the configuration", async () => {
    expect(await document(`${wellKnown}/silent/mcp`)).toMatchObject({
      resource: `${gateway.url}/silent/mcp`,
      authorization_servers: [`${gateway.url}/silent/mcp`],
      resource_name: "Tools",
      scopes_supported: ["use"],
    });
  });

  it("names a provider that announces its name, if clients don't need the gateway's", async () => {
    const serversOf = async (...[path, headers]: Parameters<typeof document>) =>
      (await document(`${wellKnown}${path}`, headers)).authorization_servers;
    expect(await serversOf("/keycloak/mcp")).toEqual([provider.issuer]);
    // Auth0 needs an audience other than the endpoint's URL.
    expect(await serversOf("/auth0/mcp")).toEqual([`${gateway.url}/auth0/mcp`]);
    const endpoint = { host: "api.example", "x-forwarded-proto": "https" };
    expect(await serversOf("", endpoint)).toEqual([provider.issuer]);
  });

  it("is readable for every page, even if the CORS policy is not", async () => {
    const origin = "https://inspector.example";
    const { headers } = await call(`${gateway.url}${wellKnown}/mcp`, { origin });
    expect(headers["access-control-allow-origin"]).toBe("*");
    const preflight = await request(`${gateway.url}${wellKnown}/mcp`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version",
      },
    });
    expect(preflight.statusCode).toBe(200);
    expect(preflight.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, POST, OPTIONS",
      "access-control-allow-headers": "Authorization, Content-Type, MCP-Protocol-Version",
    });
    await preflight.body.dump();
  });

  it("can only be read", async () => {
    const response = await request(`${gateway.url}${wellKnown}/mcp`, { method: "DELETE" });
    expect([response.statusCode, response.headers.allow]).toEqual([405, "GET, OPTIONS"]);
    await response.body.dump();
  });

  it("is served with an invalid token, too", async () => {
    expect((await callWith(`${gateway.url}${wellKnown}/mcp`, "abc")).status).toBe(200);
  });

  it("is not served for other names with the same beginning", async () => {
    const { status } = await call(`${gateway.url}${wellKnown}s`, {});
    expect(status).toBe(404);
  });
});

describe("the authorization server's metadata", () => {
  const names = ["oauth-authorization-server", "openid-configuration"];

  it.each(names)("is the provider's own as %s", async (name) => {
    const own = await (await fetch(`${provider.issuer}/.well-known/openid-configuration`)).json();
    expect(await document(`/.well-known/${name}/mcp`)).toEqual(own);
  });

  it("adds the audience for Auth0 and names the gateway as issuer", async () => {
    const { issuer, authorization_endpoint } = await document(
      "/.well-known/oauth-authorization-server/auth0/mcp",
    );
    expect(issuer).toBe(`${gateway.url}/auth0/mcp`);
    const endpoint = new URL(authorization_endpoint);
    expect(endpoint.origin).toBe(provider.issuer);
    expect(endpoint.searchParams.get("audience")).toBe("https://api.example");
  });

  it("is rejected from a document that names another issuer", async () => {
    const url = `${gateway.url}/.well-known/oauth-authorization-server/misnamed/mcp`;
    expect((await call(url, {})).status).toBe(503);
    await gateway.seen(
      /no authorization server metadata from .*: the metadata names another issuer/,
    );
  });

  it("is a 503 that any page can read until the provider was reached", async () => {
    const lonely = await startRoutesText(mcpRoutes("http://127.0.0.1:1", upstream.url));
    const url = `${lonely.url}/.well-known/oauth-authorization-server/mcp`;
    const { status, headers, body } = await call(url, {});
    expect([status, body]).toEqual([503, "the authorization server can't be reached"]);
    expect(headers["access-control-allow-origin"]).toBe("*");
    await lonely.stop();
  });
});

describe("the registration of clients at Keycloak", () => {
  const path = "/.well-known/oauth-authorization-server/keycloak/mcp/client-registration";
  const client = { redirect_uris: ["http://localhost:1234/callback"], client_name: "test" };

  function register(body: string) {
    const headers = { "content-type": "application/json", origin: "https://inspector.example" };
    return send(`${gateway.url}${path}`, "POST", headers, body);
  }

  it("is announced at the gateway", async () => {
    const metadata = await document("/.well-known/oauth-authorization-server/keycloak/mcp");
    expect(metadata.registration_endpoint).toBe(`${gateway.url}${path}`);
  });

  it("registers a client for any page", async () => {
    const { status, headers, body } = await register(JSON.stringify(client));
    expect(status).toBe(201);
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(JSON.parse(body)).toMatchObject({ client_name: "test" });
  });

  it("forwards Keycloak's refusal unchanged", async () => {
    const { status, body } = await register(JSON.stringify({ redirect_uris: ["nonsense"] }));
    expect([status, JSON.parse(body).error]).toEqual([400, "invalid_redirect_uri"]);
  });

  it("accepts at most 64 KiB", async () => {
    const { status } = await register(JSON.stringify({ ...client, pad: "x".repeat(70_000) }));
    expect(status).toBe(413);
  });
});
