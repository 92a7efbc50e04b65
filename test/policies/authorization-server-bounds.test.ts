import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { seal } from "../../runtime/auth/front/seals.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { listen } from "../harness/listen.ts";
import { root } from "../harness/root.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { UserAgent } from "../harness/user-agent.ts";
import {
  allow,
  authorizeUrl,
  type FrontWorld,
  freshPkce,
  LOOPBACK,
  register,
  requestTokens,
  SESSION_KEY,
  startFrontWorld,
} from "./front-world.ts";

let world: FrontWorld;
/** URL of the documents of clients. */
let documents: string;
/** Requested paths of documents. */
const requested: string[] = [];
const LIMIT = 5;

beforeAll(async () => {
  const folder = temporaryFolder({});
  makeCertificate(folder, "ca", {});
  makeCertificate(folder, "server", { names: "DNS:localhost", signer: "ca" });
  const file = (name: string) => readFileSync(path.join(folder, name));
  const server = createServer({ cert: file("server.pem"), key: file("server.key") });
  documents = `https://localhost:${await listen(server)}/clients`;
  server.on("request", ({ url = "" }, response) => {
    requested.push(url);
    if (url === "/clients/moved") {
      response.writeHead(302, { location: `${documents}/good` }).end();
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(documentOf(url.slice("/clients/".length))));
  });
  world = await startFrontWorld({
    server: {
      clientNames: ["Claude*", "Cursor"],
      clientDocuments: [`${documents}/*`],
      registrationsPerHour: LIMIT,
    },
    env: { NODE_EXTRA_CA_CERTS: path.join(folder, "ca.pem") },
  });
});

function documentOf(name: string): object {
  const good = {
    client_id: `${documents}/${name}`,
    client_name: "Claude",
    redirect_uris: [LOOPBACK],
    token_endpoint_auth_method: "none",
  };
  const others: Readonly<Record<string, object>> = {
    "another-id": { client_id: `${documents}/good` },
    "another-name": { client_name: "Evil" },
    "another-redirect": { redirect_uris: ["https://evil.example/callback"] },
    "a-secret": { token_endpoint_auth_method: "client_secret_basic" },
    "too-long": { padding: "x".repeat(20_000) },
  };
  return { ...good, ...others[name] };
}

describe("a client with a document", () => {
  it("gets a token without a registration, and its document is not fetched for the token", async () => {
    const id = `${documents}/good`;
    const pkce = freshPkce();
    const agent = new UserAgent();
    const returned = await allow(agent, world, authorizeUrl(world, id, pkce), "ann");
    requested.length = 0;
    const { status } = await requestTokens(world, {
      grant_type: "authorization_code",
      code: returned.searchParams.get("code") ?? "",
      client_id: id,
      redirect_uri: LOOPBACK,
      code_verifier: pkce.verifier,
    });
    expect(status).toBe(200);
    expect(requested).toEqual([]);
  });

  it.each([...["another-id", "another-name", "another-redirect", "a-secret", "too-long", "moved"]])(
    "is refused for the document %s",
    async (name) => {
      const url = authorizeUrl(world, `${documents}/${name}`, freshPkce());
      const page = await new UserAgent().ask(url);
      expect([page.status, page.location]).toEqual([400, undefined]);
      expect(page.body).toContain("the document of this program");
    },
  );

  it("outside the configured URLs is refused without a request", async () => {
    const { origin, port } = new URL(documents);
    requested.length = 0;
    const others = [
      `${origin}/other/good`,
      `${documents}/../clients/good`,
      `${documents}/%2e%2e/good`,
      `${documents}/good?x=1`,
      `${documents}/good#x`,
      `https://a@localhost:${port}/clients/good`,
      `http://localhost:${port}/clients/good`,
      `https://127.0.0.1:${port}/clients/good`,
    ];
    for (const id of others)
      expect(await new UserAgent().ask(authorizeUrl(world, id, freshPkce()))).toMatchObject({
        status: 400,
      });
    expect(requested).toEqual([]);
  });

  it("is announced in the metadata", async () => {
    const response = await fetch(`${world.base}/.well-known/oauth-authorization-server/oauth`);
    expect(await response.json()).toMatchObject({ client_id_metadata_document_supported: true });
  });
});

describe("registrations", () => {
  const claude = { redirect_uris: [LOOPBACK], client_name: "Claude Code" };

  it("have one of the configured names", async () => {
    for (const name of ["Evil", "claude", "Cursor 2", undefined]) {
      const { status, client } = await register(world, { ...claude, client_name: name });
      expect([name, status, client.error]).toEqual([name, 400, "invalid_client_metadata"]);
    }
  });

  it("beyond the limit are refused on all threads, and registered clients stay", async () => {
    const flood = await Promise.all(Array.from({ length: 60 }, () => register(world, claude)));
    const accepted = flood.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(LIMIT);
    expect(flood.filter(({ status }) => status === 429)).toHaveLength(60 - LIMIT);
    const start = authorizeUrl(world, accepted[0]?.id ?? "", freshPkce());
    expect(await new UserAgent().ask(start)).toMatchObject({ status: 200 });
  });

  it("at one replica are known by another, also the code and the refresh token", async () => {
    const { id } = await register({ ...world, url: world.replica }, claude);
    const pkce = freshPkce();
    const returned = await allow(new UserAgent(), world, authorizeUrl(world, id, pkce), "bea");
    const form = {
      grant_type: "authorization_code",
      code: returned.searchParams.get("code") ?? "",
      client_id: id,
      redirect_uri: LOOPBACK,
      code_verifier: pkce.verifier,
    };
    const { status, tokens } = await requestTokens({ ...world, url: world.replica }, form);
    expect(status).toBe(200);
    // The provider refuses a code that another replica has redeemed.
    const again = await requestTokens(world, form);
    expect([again.status, again.tokens.error]).toEqual([400, "invalid_grant"]);
    const other = await register({ ...world, url: world.replica }, claude);
    const refresh = { grant_type: "refresh_token", refresh_token: String(tokens.refresh_token) };
    expect(await requestTokens(world, { ...refresh, client_id: other.id })).toMatchObject({
      status: 400,
    });
  });

  it("expire, and then are an unknown client", async () => {
    const settings = {
      url: world.url,
      issuer: world.provider.issuer,
      client: { clientId: "gateway" },
    };
    const sealed = (end: number) => {
      const gateway = { sessionKeys: [Buffer.from(SESSION_KEY, "hex")] as const };
      const value = { name: "Claude", redirectUris: [LOOPBACK], end };
      return seal(gateway, settings, "client", value);
    };
    const ask = (id: string) => new UserAgent().ask(authorizeUrl(world, id, freshPkce()));
    expect(await ask(sealed(Date.now() + 60_000))).toMatchObject({ status: 200 });
    const expired = sealed(Date.now() - 1);
    expect(await ask(expired)).toMatchObject({ status: 400 });
    const form = { grant_type: "refresh_token", refresh_token: "x", client_id: expired };
    const { status, tokens } = await requestTokens(world, form);
    expect([status, tokens.error]).toEqual([401, "invalid_client"]);
  });
});

it("cookies of a server with https belong to its host alone", async () => {
  const publicUrl = "https://tools.example/oauth";
  const other = await startFrontWorld({ publicUrl, server: { registrationsPerHour: 9 } });
  const { id } = await register(other, { redirect_uris: [LOOPBACK] });
  const changed = { resource: "https://tools.example/mcp" };
  const { headers } = await new UserAgent().ask(authorizeUrl(other, id, freshPkce(), changed));
  expect(String(headers["set-cookie"])).toMatch(
    /^__Host-gwc-oidc-\w+=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
});

describe("the example's bounds", () => {
  const loopback = (paths: readonly string[]) =>
    ["localhost", "127.0.0.1"].flatMap((host) => paths.map((rest) => `http://${host}${rest}`));
  let example: FrontWorld;

  beforeAll(async () => {
    const file = readFileSync(path.join(root, "examples/registration/gateway.yaml"), "utf8");
    const [route] = parse(file).routes;
    const { redirectURIs } = route.policies.mcpAuthentication.authorizationServer;
    example = await startFrontWorld({ server: { redirectURIs } });
  });

  // Registrations as these clients send them.
  it.each([
    ["Claude", ["https://claude.ai/api/mcp/auth_callback"]],
    ["Claude Code", ["http://localhost:54545/callback"]],
    [
      "Visual Studio Code",
      [
        ...["https://insiders.vscode.dev/redirect", "https://vscode.dev/redirect"],
        ...loopback(["/", ":33418/"]),
      ],
    ],
    [
      "Cursor",
      [
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "http://localhost:8787/callback",
      ],
    ],
    ["ChatGPT", ["https://chatgpt.com/connector_platform_oauth_redirect"]],
    ["ChatGPT", ["https://chatgpt.com/connector/oauth/callback_abc-123"]],
    ["MCP Inspector", ["http://localhost:6274/oauth/callback"]],
  ])("accept %s with the redirect URIs %j", async (name, uris) => {
    const metadata = {
      client_name: name,
      redirect_uris: uris,
      grant_types: [
        "authorization_code",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code",
      ],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_post",
      application_type: "native",
    };
    const { status, client } = await register(example, metadata);
    expect([status, client.redirect_uris]).toEqual([201, uris]);
  });
});
