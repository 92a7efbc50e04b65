import { readFileSync } from "node:fs";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { decodeJwt } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { gwc } from "../harness/gwc.ts";
import { CLIENT_SECRET } from "../harness/login-provider.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { UserAgent } from "../harness/user-agent.ts";
import {
  allow,
  answer,
  authorizeUrl,
  ClientOfPerson,
  type FrontWorld,
  freshPkce,
  LOOPBACK,
  logInAtProvider,
  onwardUrl,
  register,
  requestTokens,
  startFrontWorld,
} from "./front-world.ts";

let world: FrontWorld;

beforeAll(async () => {
  world = await startFrontWorld();
});

const claude = { redirect_uris: [LOOPBACK], client_name: "Claude Code" };

/** Registers a client, whose code a person then allows. */
async function codeFor(person: string, more: Readonly<Record<string, string>> = {}) {
  const { id } = await register(world, claude);
  const pkce = freshPkce();
  const agent = new UserAgent();
  const returned = await allow(agent, world, authorizeUrl(world, id, pkce, more), person);
  const form = {
    grant_type: "authorization_code",
    code: returned.searchParams.get("code") ?? "",
    client_id: id,
    redirect_uri: LOOPBACK,
    code_verifier: pkce.verifier,
  };
  return { id, agent, returned, form };
}

describe("a client that registers", () => {
  it("of the SDK gets a token by a person's consent, calls, and renews the token", async () => {
    const own = new ClientOfPerson("Claude Code");
    const connect = () => {
      const transport = new StreamableHTTPClientTransport(new URL(world.resource), {
        authProvider: own,
      });
      const client = new Client({ name: "test", version: "1.0.0" });
      return {
        transport,
        client,
        done: client.connect(transport as Parameters<typeof client.connect>[0]),
      };
    };
    const first = connect();
    await expect(first.done).rejects.toThrow("Unauthorized");
    expect(own.sentTo?.href.startsWith(`${world.url}/authorize?`)).toBe(true);
    const returned = await allow(new UserAgent(), world, own.sentTo?.href ?? "", "ann");
    expect(returned.searchParams.get("state")).toBe("state of the client");
    expect(returned.searchParams.get("iss")).toBe(world.url);
    await first.transport.finishAuth(returned.searchParams.get("code") ?? "");
    const second = connect();
    await second.done;
    expect((await second.client.listTools()).tools.map(({ name }) => name)).toContain("hello");
    await second.client.close();
    const { access_token: token = "", refresh_token: refresh = "" } = own.tokens() ?? {};
    expect(decodeJwt(token)).toMatchObject({ sub: "ann", aud: world.resource });
    // The client forgets its token and has the refresh token only.
    own.saveTokens({ access_token: "expired", token_type: "Bearer", refresh_token: refresh });
    const third = connect();
    await third.done;
    expect(own.tokens()?.access_token).not.toBe("expired");
    await third.client.close();
    expect(world.provider.asked.at(-1)?.get("grant_type")).toBe("refresh_token");
  });

  it("of the newer SDK, which compares issuers, gets a token", async () => {
    const own = new ClientOfPerson("VS Code", "http://localhost:5555/any/path");
    const transport = new ModernTransport(new URL(world.resource), { authProvider: own });
    const client = new ModernClient({ name: "test", version: "1.0.0" });
    await expect(client.connect(transport)).rejects.toThrow();
    const returned = await allow(new UserAgent(), world, own.sentTo?.href ?? "", "bob");
    await transport.finishAuth(returned.searchParams);
    const again = new ModernTransport(new URL(world.resource), { authProvider: own });
    await client.connect(again);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("hello");
    await client.close();
  });

  it.each([
    ["https://claude.example/api/callback"],
    ["cursor://anysphere.cursor-mcp/oauth/callback"],
    ["http://localhost:1/a/b"],
    ["http://127.0.0.1/callback"],
  ])("may have the redirect URI %s", async (uri) => {
    const { status, client } = await register(world, { ...claude, redirect_uris: [uri] });
    expect(status).toBe(201);
    expect(client).toMatchObject({ redirect_uris: [uri], token_endpoint_auth_method: "none" });
    expect(client).not.toHaveProperty("client_secret");
  });

  it.each([
    ["https://evil.example/api/callback"],
    ["https://claude.example/api/callback/../../evil"],
    ["https://claude.example/api/callback?x=1"],
    ["https://claude.example/api/callback#x"],
    ["https://claude.example:8443/api/callback"],
    ["https://claude.example@evil.example/api/callback"],
    ["https://user@claude.example/api/callback"],
    ["https://CLAUDE.example/api/callback"],
    ["https://claude.example\\@evil.example/api/callback"],
    ["https://claude.example/api/callback\n"],
    ["http://claude.example/api/callback"],
    ["http://127.0.0.1/other"],
    ["http://127.0.0.1.evil.example/callback"],
    ["http://127.1/callback"],
    ["http://localhost.evil.example/x"],
    ["http://localhost:1/a/..%2f..%2fb"],
    ["http://localhost:1/a?next=https://evil.example"],
    ["https://localhost/a"],
    ["cursor://anysphere.cursor-mcp/oauth/callback/more"],
    ["cursor:anysphere.cursor-mcp/oauth/callback"],
    ["javascript://localhost/%0aalert(1)"],
    ["data:text/html,x"],
    [""],
  ])("cannot have the redirect URI %j", async (uri) => {
    const { status, client } = await register(world, { ...claude, redirect_uris: [LOOPBACK, uri] });
    expect([status, client.error]).toEqual([400, "invalid_redirect_uri"]);
  });

  it.each([
    [{ client_name: "x" }, "invalid_redirect_uri"],
    [{ ...claude, redirect_uris: [] }, "invalid_redirect_uri"],
    [{ ...claude, redirect_uris: [1] }, "invalid_redirect_uri"],
    [{ ...claude, redirect_uris: Array(17).fill(LOOPBACK) }, "invalid_redirect_uri"],
    [{ ...claude, client_name: "a\u202egnihton" }, "invalid_client_metadata"],
    [{ ...claude, client_name: "a\nb" }, "invalid_client_metadata"],
    [{ ...claude, client_name: "x".repeat(101) }, "invalid_client_metadata"],
    [{ ...claude, client_name: {} }, "invalid_client_metadata"],
    [{ ...claude, grant_types: ["client_credentials"] }, "invalid_client_metadata"],
    [{ ...claude, response_types: ["token"] }, "invalid_client_metadata"],
    ["no JSON", "invalid_redirect_uri"],
    ["null", "invalid_redirect_uri"],
  ])("with the metadata %j is refused", async (metadata, error) => {
    const { status, client } = await register(world, metadata);
    expect([status, client.error]).toEqual([400, error]);
  });
});

describe("an authorization request", () => {
  const pkce = freshPkce();

  it.each([
    [{ redirect_uri: "https://evil.example/callback" }],
    [{ redirect_uri: "http://localhost:33418/callback" }],
    [{ redirect_uri: "https://claude.example/api/callback" }],
    [{ client_id: "gateway" }],
    [{ client_id: undefined }],
    [{ client_id: "https://evil.example/client.json" }],
    [{ state: "x".repeat(1001) }],
  ])("with %j gets a page and no redirect", async (changed) => {
    const { id } = await register(world, claude);
    const page = await new UserAgent().ask(authorizeUrl(world, id, pkce, changed));
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.body).toContain("This program is not allowed");
  });

  it("may have another loopback port than the registered one", async () => {
    const { id } = await register(world, claude);
    const changed = { redirect_uri: "http://127.0.0.1:50123/callback" };
    expect(await new UserAgent().ask(authorizeUrl(world, id, pkce, changed))).toMatchObject({
      status: 200,
    });
  });

  it.each([
    [{ code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge: "short" }, "invalid_request"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_mode: "fragment" }, "invalid_request"],
    [{ request_uri: "https://evil.example/r" }, "request_not_supported"],
    [{ scope: "admin" }, "invalid_scope"],
    [{ resource: "https://evil.example/mcp" }, "invalid_target"],
  ])("with %j returns the error %s to the client", async (changed, error) => {
    const { id } = await register(world, claude);
    const { location = "" } = await new UserAgent().ask(authorizeUrl(world, id, pkce, changed));
    expect(location.startsWith(`${LOOPBACK}?`)).toBe(true);
    const { searchParams } = new URL(location);
    expect([searchParams.get("error"), searchParams.get("state"), searchParams.get("iss")]).toEqual(
      [error, "s", world.url],
    );
  });

  it("with a repeated parameter is refused", async () => {
    const { id } = await register(world, claude);
    const url = `${authorizeUrl(world, id, pkce)}&redirect_uri=https%3A%2F%2Fevil.example%2F`;
    expect(await new UserAgent().ask(url)).toMatchObject({ status: 400 });
  });

  it("asks the provider only for scopes that clients may request", async () => {
    const { id } = await register(world, claude);
    const agent = new UserAgent();
    const page = await agent.ask(authorizeUrl(world, id, pkce, { scope: "use admin" }));
    expect(page.body).toContain("<code>use</code>");
    expect(page.body).not.toContain("admin");
    const onward = new URL(onwardUrl(await answer(agent, world, page)));
    expect(onward.searchParams.get("scope")).toBe("use");
    expect(onward.searchParams.get("client_id")).toBe("gateway");
    expect(onward.searchParams.get("redirect_uri")).toBe(`${world.url}/callback`);
    expect(onward.searchParams.get("code_challenge")).not.toBe(pkce.challenge);
    expect(onward.searchParams.get("code_challenge_method")).toBe("S256");
    expect(onward.searchParams.get("state")).not.toBe("s");
  });
});

describe("the question to the person", () => {
  const pkce = freshPkce();

  it("shows the name as a claim, and the host that gets the access, without running the name's scripts", async () => {
    const name = `<script>alert(1)</script>"'&`;
    const metadata = { client_name: name, redirect_uris: ["https://claude.example/api/callback"] };
    const { status, id } = await register(world, metadata);
    expect(status).toBe(201);
    const changed = { redirect_uri: undefined, state: `"><script>` };
    const { body, headers } = await new UserAgent().ask(authorizeUrl(world, id, pkce, changed));
    expect(body).not.toContain("<script");
    expect(body).toContain("&#60;script&#62;alert(1)");
    expect(body).toContain(`<strong id="redirect">claude.example</strong>`);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["x-frame-options"]).toBe("DENY");
    expect(headers["cache-control"]).toBe("no-store");
  });

  it("is asked each time, also in a browser that is logged in", async () => {
    const { id, agent } = await codeFor("cleo");
    const page = await agent.ask(authorizeUrl(world, id, pkce));
    expect([page.status, page.location]).toEqual([200, undefined]);
    expect(page.body).toContain("Allow this program?");
  });

  it("that is denied returns the denial to the client", async () => {
    const { id } = await register(world, claude);
    const agent = new UserAgent();
    const page = await answer(agent, world, await agent.ask(authorizeUrl(world, id, pkce)), "deny");
    const returned = new URL(onwardUrl(page));
    expect(Object.fromEntries(returned.searchParams)).toEqual({
      error: "access_denied",
      state: "s",
      iss: world.url,
    });
  });

  it("cannot be answered by another site or another browser, and not without the page", async () => {
    const { id } = await register(world, claude);
    const agent = new UserAgent();
    const page = await agent.ask(authorizeUrl(world, id, pkce));
    const foreign = [
      { origin: "https://evil.example" },
      { origin: "null" },
      {},
      { origin: world.base, "sec-fetch-site": "cross-site" },
      { origin: world.base, "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign)
      expect(await answer(agent, world, page, "allow", headers)).toMatchObject({ status: 403 });
    // An attacker's own question in the victim's browser.
    const attacker = new UserAgent();
    const theirs = await attacker.ask(authorizeUrl(world, id, pkce));
    expect(await answer(agent, world, theirs)).toMatchObject({ status: 400 });
    expect(await answer(new UserAgent(), world, page)).toMatchObject({ status: 400 });
    expect(await answer(agent, world, { ...page, body: "" })).toMatchObject({ status: 400 });
    expect(await answer(agent, world, page)).toMatchObject({ status: 200 });
  });
});

describe("the provider's response", () => {
  it("counts only in the browser in which the person allowed the client, and once", async () => {
    const { id } = await register(world, claude);
    const [mallory, victim] = [new UserAgent(), new UserAgent()];
    const pkce = freshPkce();
    for (const each of [mallory, victim]) await each.ask(authorizeUrl(world, id, pkce));
    const page = await mallory.ask(authorizeUrl(world, id, pkce));
    const onward = onwardUrl(await answer(mallory, world, page));
    const returned = await logInAtProvider(mallory, world, onward, "mallory");
    expect(await victim.ask(returned)).toMatchObject({ status: 400, location: undefined });
    const changed = new URL(returned);
    changed.searchParams.set("state", `${changed.searchParams.get("state")?.slice(0, 10)}x`);
    expect(await mallory.ask(changed.href)).toMatchObject({ status: 400, location: undefined });
    const kept = [...mallory.cookies(world.base)];
    const { location = "" } = await mallory.ask(returned);
    expect(new URL(location).searchParams.has("code")).toBe(true);
    // Also with the cookie that the response has deleted, on any thread.
    for (const [name, value] of kept) mallory.cookies(world.base).set(name, value);
    for (let round = 0; round < 4; round++)
      expect(await mallory.ask(returned)).toMatchObject({ status: 400, location: undefined });
  });

  it("that names another issuer is refused", async () => {
    for (const iss of ["https://evil.example", undefined]) {
      const { id } = await register(world, claude);
      const agent = new UserAgent();
      const page = await agent.ask(authorizeUrl(world, id, freshPkce()));
      const onward = onwardUrl(await answer(agent, world, page));
      const returned = new URL(await logInAtProvider(agent, world, onward, "mia"));
      expect(returned.searchParams.get("iss")).toBe(world.provider.issuer);
      if (iss === undefined) returned.searchParams.delete("iss");
      else returned.searchParams.set("iss", iss);
      const { status, location, body } = await agent.ask(returned.href);
      expect([status, location]).toEqual([400, undefined]);
      expect(body).toContain("another authorization server");
    }
  });

  it("that the person declined is an error for the client", async () => {
    const { id } = await register(world, claude);
    const start = authorizeUrl(world, id, freshPkce());
    const returned = await allow(new UserAgent(), world, start, "nobody");
    expect(returned.searchParams.get("error")).toBe("access_denied");
    expect(returned.searchParams.has("code")).toBe(false);
  });
});

describe("a code", () => {
  it("is worth a token once", async () => {
    const { form } = await codeFor("dora");
    const { status, tokens } = await requestTokens(world, form);
    expect(status).toBe(200);
    expect(Object.keys(tokens).sort()).toEqual([
      ...["access_token", "expires_in", "refresh_token", "scope", "token_type"],
    ]);
    const again = await requestTokens(world, form);
    expect([again.status, again.tokens.error]).toEqual([400, "invalid_grant"]);
  });

  it("redeemed by concurrent requests on all threads is worth one token", async () => {
    const { form } = await codeFor("dora");
    const all = await Promise.all(Array.from({ length: 12 }, () => requestTokens(world, form)));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it("is not worth anything without the client's verifier, URI and id, and these attempts do not spend it", async () => {
    const { form } = await codeFor("eve");
    const { id: other } = await register(world, claude);
    const { code_verifier: _, ...withoutVerifier } = form;
    const wrong: Readonly<Record<string, string>>[] = [
      withoutVerifier,
      { ...form, code_verifier: freshPkce().verifier },
      { ...form, code_verifier: "" },
      { ...form, redirect_uri: "http://127.0.0.1:1/callback" },
      { ...form, client_id: other },
      { ...form, code: form.code.slice(0, -2) },
      { ...form, code: "" },
    ];
    for (const each of wrong) {
      const { status, tokens } = await requestTokens(world, each);
      expect([status, tokens.error]).toEqual([400, "invalid_grant"]);
    }
    const unknown = await requestTokens(world, { ...form, client_id: "gateway" });
    expect([unknown.status, unknown.tokens.error]).toEqual([401, "invalid_client"]);
    const resource = await requestTokens(world, { ...form, resource: `${world.base}/other` });
    expect([resource.status, resource.tokens.error]).toEqual([400, "invalid_target"]);
    expect(await requestTokens(world, form)).toMatchObject({ status: 200 });
  });

  it("hides the provider's code, which the provider takes from the gateway alone", async () => {
    const { form } = await codeFor("fay");
    world.provider.asked.length = 0;
    await requestTokens(world, form);
    const [asked] = world.provider.asked;
    expect(asked?.get("code_verifier")).not.toBe(form.code_verifier);
    expect(form.code).not.toContain(asked?.get("code"));
    expect(Buffer.from(form.code, "base64url").includes(asked?.get("code") ?? "")).toBe(false);
  });
});

describe("a token request", () => {
  it.each([
    [{ grant_type: "client_credentials" }, "unsupported_grant_type"],
    [{ grant_type: "password", username: "a", password: "b" }, "unsupported_grant_type"],
    [{ grant_type: "refresh_token", refresh_token: "x" }, "invalid_grant"],
  ])("with %j is refused and never reaches the provider", async (form, error) => {
    const { id } = await register(world, claude);
    world.provider.asked.length = 0;
    const { status, tokens } = await requestTokens(world, { ...form, client_id: id });
    expect([status, tokens.error]).toEqual([400, error]);
    expect(world.provider.asked).toEqual([]);
  });

  it("with a refresh token of another client is refused", async () => {
    const { form } = await codeFor("gil");
    const { tokens } = await requestTokens(world, form);
    const { id: other } = await register(world, claude);
    const refresh = { grant_type: "refresh_token", refresh_token: String(tokens.refresh_token) };
    const stolen = await requestTokens(world, { ...refresh, client_id: other });
    expect([stolen.status, stolen.tokens.error]).toEqual([400, "invalid_grant"]);
    const own = await requestTokens(world, { ...refresh, client_id: form.client_id });
    expect(own.status).toBe(200);
    const more = await requestTokens(world, {
      ...refresh,
      refresh_token: String(own.tokens.refresh_token),
      client_id: form.client_id,
      scope: "use admin",
    });
    expect(more.tokens.error).toBe("invalid_scope");
  });

  it("does not take a code where a refresh token belongs, nor a client id", async () => {
    const { form, id } = await codeFor("hal");
    for (const refresh_token of [form.code, id]) {
      const { tokens } = await requestTokens(world, {
        grant_type: "refresh_token",
        refresh_token,
        client_id: id,
      });
      expect(tokens.error).toBe("invalid_grant");
    }
  });
});

it("the metadata describe the gateway as the only authorization server", async () => {
  const resource = await fetch(`${world.base}/.well-known/oauth-protected-resource/mcp`);
  expect(await resource.json()).toMatchObject({
    resource: world.resource,
    authorization_servers: [world.url],
  });
  for (const at of [
    "/.well-known/oauth-authorization-server/oauth",
    "/oauth/.well-known/openid-configuration",
  ]) {
    const response = await fetch(`${world.base}${at}`);
    expect(await response.json()).toMatchObject({
      issuer: world.url,
      registration_endpoint: `${world.url}/register`,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
      client_id_metadata_document_supported: false,
    });
  }
});

it("tokens of the provider for other clients of it are accepted as before, and others are not", async () => {
  expect((await fetch(world.resource, { headers: { authorization: "Bearer x" } })).status).toBe(
    401,
  );
  const challenge = (await fetch(world.resource)).headers.get("www-authenticate");
  expect(challenge).toContain("/.well-known/oauth-protected-resource/mcp");
});

it("the audit log has a line for a registration, an answer and a redeemed code, and none of a refresh", async () => {
  const { id } = await register(world, { ...claude, client_name: "Of the audit log" });
  const pkce = freshPkce();
  const agent = new UserAgent();
  const returned = await allow(agent, world, authorizeUrl(world, id, pkce), "ivy");
  const code = returned.searchParams.get("code") ?? "";
  const form = { client_id: id, redirect_uri: LOOPBACK, code_verifier: pkce.verifier, code };
  const { tokens } = await requestTokens(world, { ...form, grant_type: "authorization_code" });
  const refresh = { grant_type: "refresh_token", refresh_token: String(tokens.refresh_token) };
  expect((await requestTokens(world, { ...refresh, client_id: id })).status).toBe(200);
  await answer(agent, world, await agent.ask(authorizeUrl(world, id, freshPkce())), "deny");
  const lines = await eventually(() => {
    const found = readFileSync(world.audit, "utf8")
      .split("\n")
      .flatMap((line) => (line.includes("Of the audit log") ? [JSON.parse(line)] : []));
    return found.length >= 4 ? found : null;
  }, "lines of the audit log");
  expect(lines.map((line) => [line.event, line["oauth.client.event"]])).toEqual([
    ...["registered", "allowed", "redeemed", "declined"].map((event) => ["client", event]),
  ]);
  expect(lines[1]).toMatchObject({ "oauth.client.redirect": "http://127.0.0.1:33418" });
  const written = readFileSync(world.audit, "utf8");
  expect(written).not.toContain(code);
  expect(written).not.toContain(String(tokens.access_token));
});

it("gwc diff reports that another redirect URI opens access", async () => {
  const file = (uris: readonly string[]) => {
    const url = "https://a.test/oauth";
    const server = { url, redirectURIs: uris };
    const policy = {
      issuer: "https://id.test",
      audiences: ["a"],
      jwks: { url: "https://id.test/keys" },
      clientId: "a",
      authorizationServer: server,
    };
    const targets = [{ name: "t", mcp: { host: "http://127.0.0.1:1/mcp" } }];
    const routes = [{ policies: { mcpAuthentication: policy }, backends: [{ mcp: { targets } }] }];
    return JSON.stringify({ binds: [{ port: 3000, listeners: [{ routes }] }] });
  };
  const folder = temporaryFolder({
    "a.yaml": file(["http://127.0.0.1/*"]),
    "b.yaml": file(["http://127.0.0.1/*", "https://a.test/*"]),
  });
  const { stdout } = await gwc(["diff", "a.yaml", "b.yaml"], { cwd: folder });
  expect(stdout).toMatch(/OPENS[\s\S]*redirect URI https:\/\/a\.test\/\* added/);
});

it("no secret, code or token is written to the log", () => {
  expect(world.gateway.output).not.toContain(CLIENT_SECRET);
  expect(world.gateway.output).not.toMatch(/eyJ[\w-]{20}/);
  expect(world.gateway.output).toContain("oauth.client.event=registered");
});
