import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { CLIENT_SECRET, startLoginProvider } from "../harness/login-provider.ts";
import { type ResourceProvider, startResourceProvider } from "../harness/resource-provider.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { UserAgent } from "../harness/user-agent.ts";
import { messagesOf } from "../mcp/raw-client.ts";
import { ask, connectStateless } from "../mcp/stateless-client.ts";
import { findings } from "./refused.ts";

let gateway: Gateway;
let base: string;
let users: ResourceProvider;
let brief: ResourceProvider;
const stateDir = temporaryFolder({});
const audit = path.join(temporaryFolder({}), "audit.log");
const callback = (name: string) => `${base}/${name}/login`;

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  base = `http://127.0.0.1:${port}`;
  [users, brief] = await Promise.all([startResourceProvider(), startResourceProvider(2)]);
  const login = await startLoginProvider(() =>
    ["connect", "token"].map((id) => ({ id, redirectUri: callback(id) })),
  );
  const echo = await startEcho();
  const { issuer } = login;
  const oidc = (id: string) => ({
    ...{ issuer, clientId: id, clientSecret: "${SECRET}", redirectURI: callback(id) },
  });
  const page = `${base}/connect`;
  const me = { operationId: "me", responses: { 200: { description: "The user." } } };
  const document = { openapi: "3.1.0", info: { title: "users", version: "1" } };
  const api = { ...document, paths: { "/api/me": { get: me } } };
  const target = (name: string, host: string, connection: string) => ({
    name,
    mcp: { host },
    policies: { backendAuth: { oauth: { connection, page } } },
  });
  const tools = (name: string, targets: readonly object[]) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { jwtAuth: { issuer, audiences: ["token"], jwks: { url: `${issuer}/jwks` } } },
    backends: [{ mcp: { targets } }],
  });
  const config = {
    config: { workerThreads: 2, logging: { audit: { file: audit } } },
    binds: [
      {
        port,
        listeners: [
          {
            routes: [
              {
                name: "connect",
                matches: [{ path: { pathPrefix: "/connect" } }],
                policies: {
                  oidc: { ...oidc("connect"), logout: { path: "/connect/logout", local: true } },
                  userConnections: {
                    url: page,
                    servers: [
                      { name: "users", resource: users.resource },
                      {
                        name: "brief",
                        resource: brief.resource,
                        issuer: brief.issuer,
                        scopes: ["read"],
                      },
                    ],
                  },
                },
              },
              {
                name: "token",
                matches: [{ path: { pathPrefix: "/token" } }],
                policies: { oidc: oidc("token"), backendAuth: { passthrough: {} } },
                backends: [{ host: new URL(echo.url).host }],
              },
              tools("tools", [target("users", users.resource, "users")]),
              tools("api", [
                {
                  name: "api",
                  openapi: { schema: JSON.stringify(api), host: new URL(users.resource).origin },
                  policies: { backendAuth: { oauth: { connection: "users", page } } },
                },
              ]),
              tools("brief", [target("brief", brief.resource, "brief")]),
              tools("both", [
                target("a", users.resource, "users"),
                target("b", brief.resource, "brief"),
              ]),
            ],
          },
        ],
      },
    ],
  };
  gateway = await startGateway({
    config,
    env: { SECRET: CLIENT_SECRET, SESSION_KEY: "5e".repeat(32), GWC_STATE_DIR: stateDir },
  });
});

/** A person with a browser, and the token of the person's programs. */
interface Person {
  readonly name: string;
  readonly agent: UserAgent;
  readonly authorization: string;
}

async function person(name: string): Promise<Person> {
  const agent = new UserAgent();
  const { body } = await agent.logIn(`${base}/token`, name);
  const { headers } = JSON.parse(body) as { headers: Record<string, string> };
  return { name, agent, authorization: headers.authorization ?? "" };
}

async function connectClient(
  route: string,
  { authorization }: Person,
  capabilities: object = {},
): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities });
  const requestInit = { headers: { authorization } };
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/${route}`), { requestInit });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

const form = (action: string) => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded", origin: base },
  body: `action=${action}`,
});

/** Clicks on the page, and logs in at the server. */
async function connectAccount({ agent, name }: Person, connection: string) {
  await agent.open(`${base}/connect/${connection}`);
  const there = await agent.open(`${base}/connect/${connection}`, form("connect"));
  return there.url.startsWith(base) ? there : agent.submit(there, name);
}

const textOf = (result: object): string =>
  (result as { content?: readonly { text?: string }[] }).content?.[0]?.text ?? "";

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

/** Asks a server who the user is, in a session. */
async function whoAmI(route: string, someone: Person, tool = "whoami"): Promise<string> {
  const client = await connectClient(route, someone);
  const found = textOf(await client.callTool({ name: tool }));
  await client.close();
  return found;
}

describe("a user without a connection", () => {
  it("gets the tool to connect, with the address of the page, and the server's tools after that", async () => {
    const alice = await person("alice");
    const client = await connectClient("tools", alice);
    expect(await namesOf(client)).toEqual(["connect_account"]);
    const asked = await client.callTool({ name: "connect_account" });
    expect(asked.isError).toBe(true);
    expect(textOf(asked)).toContain(`${base}/connect/users`);
    const page = await alice.agent.open(`${base}/connect/users`);
    expect(page.body).toContain(users.resource);
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    const done = await connectAccount(alice, "users");
    expect(done).toMatchObject({ status: 200 });
    expect(done.body).toContain("users is connected");
    await client.close();
    const again = await connectClient("tools", alice);
    expect(await namesOf(again)).toEqual(["whoami"]);
    expect(textOf(await again.callTool({ name: "connect_account" }))).toContain("is connected");
    expect(textOf(await again.callTool({ name: "whoami" }))).toBe("alice");
    expect(users.registered).toHaveLength(1);
  });

  it("continues in the session in which the call was refused", async () => {
    const carol = await person("carol");
    const client = await connectClient("tools", carol);
    expect(textOf(await client.callTool({ name: "whoami" }))).toContain("/connect/users");
    await connectAccount(carol, "users");
    expect(textOf(await client.callTool({ name: "whoami" }))).toBe("carol");
  });

  it("opens the page by URL elicitation if the client supports that, in both eras", async () => {
    const dan = await person("dan");
    const client = await connectClient("tools", dan, { elicitation: { url: {} } });
    await expect(client.callTool({ name: "whoami" })).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", url: `${base}/connect/users` }] },
    });
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
    };
    const response = await ask(
      `${base}/tools`,
      "tools/call",
      { name: "whoami", arguments: {}, _meta: envelope },
      { authorization: dan.authorization },
    );
    expect(JSON.stringify(messagesOf(response))).toContain(`${base}/connect/users`);
    expect(messagesOf(response).at(-1)).toMatchObject({ result: { resultType: "input_required" } });
  });

  it("of merged servers sees the tool of each, and connects them one by one", async () => {
    const erin = await person("erin");
    const client = await connectClient("both", erin);
    expect(await namesOf(client)).toEqual(["a_connect_account", "b_connect_account"]);
    await connectAccount(erin, "brief");
    await client.close();
    const again = await connectClient("both", erin);
    expect(await namesOf(again)).toEqual(["a_connect_account", "b_whoami"]);
    expect(textOf(await again.callTool({ name: "b_whoami" }))).toBe("erin");
  });
});

it("an API gets the user's token, and users without a connection the address of the page", async () => {
  const uma = await person("uma");
  expect(await whoAmI("api", uma, "me")).toContain(`${base}/connect/users`);
  await connectAccount(uma, "users");
  expect(await whoAmI("api", uma, "me")).toBe('{"user":"uma"}');
});

describe("an authorization", () => {
  it("is refused in another browser, for another user, from another site, and a second time", async () => {
    const [mallory, victim] = [await person("mallory"), await person("victim")];
    for (const each of [mallory, victim]) await each.agent.open(`${base}/connect/users`);
    const there = await mallory.agent.open(`${base}/connect/users`, form("connect"));
    // Follows the server's redirects up to the gateway, without going there.
    let next = await mallory.agent.ask(there.url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "login=mallory",
    });
    while (next.location?.startsWith(base) === false) next = await mallory.agent.ask(next.location);
    const returned = next.location ?? "";
    expect(returned).toContain(`${base}/connect/users/callback?`);
    expect(await victim.agent.ask(returned)).toMatchObject({ status: 400 });
    // Even with the cookie of the authorization.
    for (const [name, value] of mallory.agent.cookies(base))
      if (name.includes("-login-")) victim.agent.cookies(base).set(name, value);
    expect(await victim.agent.ask(returned)).toMatchObject({ status: 403 });
    expect(await whoAmI("tools", victim)).toContain("/connect/users");
    expect(await mallory.agent.ask(returned)).toMatchObject({ status: 200 });
    expect((await mallory.agent.ask(returned)).status).toBe(400);
    const foreign = { ...form("connect"), headers: { origin: "https://evil.test" } };
    expect(await victim.agent.ask(`${base}/connect/users`, foreign)).toMatchObject({ status: 403 });
  });

  it("that the user declines stores nothing", async () => {
    const nell = await person("nell");
    await nell.agent.open(`${base}/connect/users`);
    const there = await nell.agent.open(`${base}/connect/users`, form("connect"));
    expect(await nell.agent.submit(there, "nobody")).toMatchObject({ status: 403 });
    expect(await whoAmI("tools", nell)).toContain("/connect/users");
  });
});

describe("a grant", () => {
  it("is renewed once for concurrent calls, before it expires", async () => {
    const rosa = await person("rosa");
    await connectAccount(rosa, "brief");
    brief.asked.length = 0;
    await eventually(async () => {
      await Promise.all(
        Array.from({ length: 6 }, async () => expect(await whoAmI("brief", rosa)).toBe("rosa")),
      );
      return brief.asked.length > 0 || null;
    }, "a renewal");
    expect(new Set(brief.asked)).toEqual(new Set(["refresh_token"]));
    expect(brief.asked.length).toBeLessThan(6);
  });

  it("whose token the server refuses is renewed, and the client never sees the challenge", async () => {
    const sam = await person("sam");
    await connectAccount(sam, "users");
    expect(await whoAmI("tools", sam)).toBe("sam");
    users.asked.length = 0;
    const client = await connectClient("tools", sam);
    for (const token of users.tokens) users.refused.add(token);
    const called = await client.callTool({ name: "whoami" });
    expect(textOf(called)).toBe("sam");
    expect(users.asked).toEqual(["refresh_token"]);
  });

  it("ends when the user disconnects or logs out", async () => {
    const tess = await person("tess");
    await tess.agent.open(`${base}/connect/users`);
    for (const end of ["disconnect", "logout"]) {
      await connectAccount(tess, "users");
      expect(await whoAmI("tools", tess)).toBe("tess");
      if (end === "logout") await tess.agent.open(`${base}/connect/logout`);
      else await tess.agent.open(`${base}/connect/users`, form("disconnect"));
      expect(await whoAmI("tools", tess)).toContain("/connect/users");
    }
  });

  it("has a line in the audit log when it begins and ends, and no secret is written anywhere", async () => {
    const lines = await eventually(() => {
      const found = readFileSync(audit, "utf8")
        .split("\n")
        .flatMap((line) => (line.includes('"connection"') ? [JSON.parse(line)] : []))
        .filter((line) => line.identity === "tess");
      return found.length === 4 ? found : null;
    }, "lines of the audit log");
    expect(lines.map((line) => line["connection.event"])).toEqual([
      ...["granted", "revoked", "granted", "revoked"],
    ]);
    expect(lines[0]).toMatchObject({ event: "connection", connection: "users", identity: "tess" });
    const files = readdirSync(stateDir).map((file) => readFileSync(path.join(stateDir, file)));
    expect(files.length).toBeGreaterThan(0);
    const written = [...files, readFileSync(audit), gateway.output].join("\n");
    expect([...users.tokens, ...brief.tokens].filter((token) => written.includes(token))).toEqual(
      [],
    );
  });
});

it("tokens of one user never reach another, over threads and both eras", async () => {
  const people = await Promise.all(["u1", "u2", "u3", "u4"].map(person));
  for (const each of people) {
    await connectAccount(each, "users");
  }
  const url = `${base}/tools`;
  await Promise.all(
    Array.from({ length: 48 }, async (_, index) => {
      const someone = people[(index * 7) % people.length];
      if (someone === undefined) return;
      if (index % 2 === 0) {
        expect(await whoAmI("tools", someone)).toBe(someone.name);
        return;
      }
      const { authorization } = someone;
      // Clients cannot name another user.
      const headers = { authorization, "gwc-connection-user": JSON.stringify(["x", "u1"]) };
      const client = await connectStateless(url, {}, headers);
      expect(textOf(await client.callTool({ name: "whoami" }))).toBe(someone.name);
      await client.close();
    }),
  );
});

it("mistakes are reported where they are", () => {
  const jwtAuth = {
    issuer: "https://a.test",
    audiences: ["a"],
    jwks: { url: "https://a.test/jwks" },
  };
  const oauth = { connection: "x", page: "https://a.test/connect" };
  const target = {
    name: "a",
    mcp: { host: "http://127.0.0.1:1/mcp" },
    policies: { backendAuth: { oauth } },
  };
  const backends = [{ mcp: { targets: [target] } }];
  expect(findings({ policies: { jwtAuth }, backends })).toEqual(["unknown-connection"]);
  expect(findings({ policies: {}, backends })).toEqual(["connection-without-user"]);
  const host = [{ host: "127.0.0.1:1", policies: { backendAuth: { oauth } } }];
  expect(findings({ policies: { jwtAuth }, backends: host })).toEqual(["misplaced-field"]);
  const server = { name: "x", resource: "https://a.test/mcp" };
  const page = (servers: readonly object[]) => ({ url: "https://a.test/connect", servers });
  expect(findings({ policies: { userConnections: page([server]) }, backends: [] })).toEqual([
    "connection-without-user",
  ]);
  const policies = { jwtAuth, userConnections: page([server, server]) };
  expect(findings({ policies, backends: [] })).toEqual(["duplicate-connection"]);
});
