import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { messagesOf } from "../mcp/raw-client.ts";
import { ask, connectStateless } from "../mcp/stateless-client.ts";
import { ConnectionWorld, textOf } from "./connection-world.ts";
import { findings } from "./refused.ts";

let world: ConnectionWorld;

beforeAll(async () => {
  world = await ConnectionWorld.start();
});

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

describe("a user without a connection", () => {
  it("gets the tool to connect, with the address of the page, and the server's tools after that", async () => {
    const alice = await world.person("alice");
    const client = await world.connectClient("tools", alice);
    expect(await namesOf(client)).toEqual(["connect_account"]);
    const asked = await client.callTool({ name: "connect_account" });
    expect(asked.isError).toBe(true);
    expect(textOf(asked)).toContain(`${world.base}/connect/users`);
    const page = await alice.agent.open(`${world.base}/connect/users`);
    expect(page.body).toContain(world.users.resource);
    expect(page.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
    const done = await world.connectAccount(alice, "users");
    expect(done).toMatchObject({ status: 200 });
    expect(done.body).toContain("users is connected");
    await client.close();
    const again = await world.connectClient("tools", alice);
    expect(await namesOf(again)).toEqual(["whoami"]);
    expect(textOf(await again.callTool({ name: "connect_account" }))).toContain("is connected");
    expect(textOf(await again.callTool({ name: "whoami" }))).toBe("alice");
    expect(world.users.registered).toHaveLength(1);
  });

  it("continues in the session in which the call was refused", async () => {
    const carol = await world.person("carol");
    const client = await world.connectClient("tools", carol);
    expect(textOf(await client.callTool({ name: "whoami" }))).toContain("/connect/users");
    await world.connectAccount(carol, "users");
    expect(textOf(await client.callTool({ name: "whoami" }))).toBe("carol");
  });

  it("opens the page by URL elicitation if the client supports that, in both eras", async () => {
    const dan = await world.person("dan");
    const client = await world.connectClient("tools", dan, { elicitation: { url: {} } });
    await expect(client.callTool({ name: "whoami" })).rejects.toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", url: `${world.base}/connect/users` }] },
    });
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
    };
    const response = await ask(
      `${world.base}/tools`,
      "tools/call",
      { name: "whoami", arguments: {}, _meta: envelope },
      { authorization: dan.authorization },
    );
    expect(JSON.stringify(messagesOf(response))).toContain(`${world.base}/connect/users`);
    expect(messagesOf(response).at(-1)).toMatchObject({ result: { resultType: "input_required" } });
  });

  it("of merged servers sees the tool of each, and connects them one by one", async () => {
    const erin = await world.person("erin");
    const client = await world.connectClient("both", erin);
    expect(await namesOf(client)).toEqual(["a_connect_account", "b_connect_account"]);
    await world.connectAccount(erin, "brief");
    await client.close();
    const again = await world.connectClient("both", erin);
    expect(await namesOf(again)).toEqual(["a_connect_account", "b_whoami"]);
    expect(textOf(await again.callTool({ name: "b_whoami" }))).toBe("erin");
  });
});

it("an API gets the user's token, and users without a connection the address of the page", async () => {
  const uma = await world.person("uma");
  expect(await world.whoAmI("api", uma, { tool: "me" })).toContain(`${world.base}/connect/users`);
  await world.connectAccount(uma, "users");
  expect(await world.whoAmI("api", uma, { tool: "me" })).toBe('{"user":"uma"}');
});

describe("an authorization", () => {
  it("is refused in another browser, for another user, from another site, and a second time", async () => {
    const [mallory, victim] = [await world.person("mallory"), await world.person("victim")];
    for (const each of [mallory, victim]) await each.agent.open(`${world.base}/connect/users`);
    const there = await mallory.agent.open(`${world.base}/connect/users`, world.form("connect"));
    // Follows the server's redirects up to the gateway, without going there.
    let next = await mallory.agent.ask(there.url, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "login=mallory",
    });
    while (next.location?.startsWith(world.base) === false)
      next = await mallory.agent.ask(next.location);
    const returned = next.location ?? "";
    expect(returned).toContain(`${world.base}/connect/users/callback?`);
    expect(await victim.agent.ask(returned)).toMatchObject({ status: 400 });
    // Even with the cookie of the authorization.
    for (const [name, value] of mallory.agent.cookies(world.base))
      if (name.includes("-login-")) victim.agent.cookies(world.base).set(name, value);
    expect(await victim.agent.ask(returned)).toMatchObject({ status: 403 });
    expect(await world.whoAmI("tools", victim)).toContain("/connect/users");
    expect(await mallory.agent.ask(returned)).toMatchObject({ status: 200 });
    expect((await mallory.agent.ask(returned)).status).toBe(400);
    const foreign = { ...world.form("connect"), headers: { origin: "https://evil.test" } };
    expect(await victim.agent.ask(`${world.base}/connect/users`, foreign)).toMatchObject({
      status: 403,
    });
  });

  it("that the user declines stores nothing", async () => {
    const nell = await world.person("nell");
    await nell.agent.open(`${world.base}/connect/users`);
    const there = await nell.agent.open(`${world.base}/connect/users`, world.form("connect"));
    expect(await nell.agent.submit(there, "nobody")).toMatchObject({ status: 403 });
    expect(await world.whoAmI("tools", nell)).toContain("/connect/users");
  });
});

describe("a grant", () => {
  it("is renewed once for concurrent calls, before it expires", async () => {
    const rosa = await world.person("rosa");
    await world.connectAccount(rosa, "brief");
    world.brief.asked.length = 0;
    await eventually(async () => {
      await Promise.all(
        Array.from({ length: 6 }, async () =>
          expect(await world.whoAmI("brief", rosa)).toBe("rosa"),
        ),
      );
      return world.brief.asked.length > 0 || null;
    }, "a renewal");
    expect(new Set(world.brief.asked)).toEqual(new Set(["refresh_token"]));
    expect(world.brief.asked.length).toBeLessThan(6);
  });

  it("whose token the server refuses is renewed, and the client never sees the challenge", async () => {
    const sam = await world.person("sam");
    await world.connectAccount(sam, "users");
    expect(await world.whoAmI("tools", sam)).toBe("sam");
    world.users.asked.length = 0;
    const client = await world.connectClient("tools", sam);
    for (const token of world.users.tokens) world.users.refused.add(token);
    const called = await client.callTool({ name: "whoami" });
    expect(textOf(called)).toBe("sam");
    expect(world.users.asked).toEqual(["refresh_token"]);
  });

  it("ends when the user disconnects or logs out", async () => {
    const tess = await world.person("tess");
    await tess.agent.open(`${world.base}/connect/users`);
    for (const end of ["disconnect", "logout"]) {
      await world.connectAccount(tess, "users");
      expect(await world.whoAmI("tools", tess)).toBe("tess");
      if (end === "logout") await tess.agent.open(`${world.base}/connect/logout`);
      else await tess.agent.open(`${world.base}/connect/users`, world.form("disconnect"));
      expect(await world.whoAmI("tools", tess)).toContain("/connect/users");
    }
  });

  it("has a line in the audit log when it begins and ends, and no secret is written anywhere", async () => {
    const lines = await eventually(() => {
      const found = readFileSync(world.auditFile, "utf8")
        .split("\n")
        .flatMap((line) => (line.includes('"connection"') ? [JSON.parse(line)] : []))
        .filter((line) => line.identity === "tess");
      return found.length === 4 ? found : null;
    }, "lines of the audit log");
    expect(lines.map((line) => line["connection.event"])).toEqual([
      ...["granted", "revoked", "granted", "revoked"],
    ]);
    expect(lines[0]).toMatchObject({ event: "connection", connection: "users", identity: "tess" });
    const files = readdirSync(world.stateDir).map((file) =>
      readFileSync(path.join(world.stateDir, file)),
    );
    expect(files.length).toBeGreaterThan(0);
    const written = [...files, readFileSync(world.auditFile), world.output].join("\n");
    expect(
      [...world.users.tokens, ...world.brief.tokens].filter((token) => written.includes(token)),
    ).toEqual([]);
  });
});

it("tokens of one user never reach another, over threads and both eras", async () => {
  const people = await Promise.all(["u1", "u2", "u3", "u4"].map((name) => world.person(name)));
  for (const each of people) {
    await world.connectAccount(each, "users");
  }
  const url = `${world.base}/tools`;
  await Promise.all(
    Array.from({ length: 48 }, async (_, index) => {
      const someone = people[(index * 7) % people.length];
      if (someone === undefined) return;
      if (index % 2 === 0) {
        expect(await world.whoAmI("tools", someone)).toBe(someone.name);
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
  expect(findings({ policies: { jwtAuth }, backends: host })).toEqual(["unknown-connection"]);
  expect(findings({ policies: {}, backends: host })).toEqual(["connection-without-user"]);
  const dynamic = [{ dynamic: {}, policies: { backendAuth: { oauth } } }];
  expect(findings({ policies: { jwtAuth }, backends: dynamic })).toContain("misplaced-field");
  const server = { name: "x", resource: "https://a.test/mcp" };
  const page = (servers: readonly object[]) => ({ url: "https://a.test/connect", servers });
  expect(findings({ policies: { userConnections: page([server]) }, backends: [] })).toEqual([
    "connection-without-user",
  ]);
  const policies = { jwtAuth, userConnections: page([server, server]) };
  expect(findings({ policies, backends: [] })).toEqual(["duplicate-connection"]);
});
