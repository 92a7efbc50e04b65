import { readFileSync } from "node:fs";
import fc from "fast-check";
import { Redis } from "iovalkey";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { RedisServer } from "../harness/redis.ts";
import { ConnectionWorld, type Person } from "./connection-world.ts";

let redis: RedisServer;
let world: ConnectionWorld;

beforeAll(async () => {
  redis = await RedisServer.start();
  // A server that takes a refresh token that is sent twice for a stolen one.
  const second = { lifetime: 2, rotates: true, delay: 100 };
  world = await ConnectionWorld.start({ replicas: 2, redis: redis.url, second });
});

/** Clicks on the page at one replica, and logs in at the server. Returns the address to which the browser returns. */
async function returnAddress({ agent, name }: Person, connection: string): Promise<string> {
  const { base } = world;
  await agent.open(`${base}/connect/${connection}`);
  const there = await agent.open(`${base}/connect/${connection}`, world.form("connect"));
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  let next = await agent.ask(there.url, { method: "POST", headers, body: `login=${name}` });
  while (next.location?.startsWith(base) === false) next = await agent.ask(next.location);
  return next.location ?? "";
}

/** The lines of the audit log about a person's connections. */
function audited(name: string): readonly string[] {
  return readFileSync(world.auditFile, "utf8")
    .split("\n")
    .flatMap((line) => (line.includes('"connection.event"') ? [JSON.parse(line)] : []))
    .filter((line) => line.identity === name)
    .map((line) => line["connection.event"]);
}

describe("a connection over replicas", () => {
  it("begins at one and is completed at another, once for all of them", async () => {
    const ann = await world.person("ann");
    world.replica = 0;
    const returned = await returnAddress(ann, "users");
    const cookies = new Map(ann.agent.cookies(world.base));
    world.replica = 1;
    expect(await ann.agent.ask(returned)).toMatchObject({ status: 200 });
    world.replica = 0;
    expect(await world.whoAmI("tools", ann)).toBe("ann");
    // A browser that did not forget the login: the store did not either.
    for (const [name, value] of cookies) ann.agent.cookies(world.base).set(name, value);
    expect(await ann.agent.ask(returned)).toMatchObject({
      status: 400,
      body: expect.stringContaining("already completed"),
    });
  });

  it("is renewed by one replica at a time, so that no refresh token is sent twice", async () => {
    const bea = await world.person("bea-of-replicas");
    await world.connectAccount(bea, "brief");
    world.replica = undefined;
    world.brief.asked.length = 0;
    await eventually(async () => {
      const found = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          world.whoAmI("brief", bea, { isStateless: index % 2 === 0 }),
        ),
      );
      expect(new Set(found)).toEqual(new Set(["bea-of-replicas"]));
      return world.brief.asked.length >= 3 || null;
    }, "three renewals");
    expect(new Set(world.brief.asked)).toEqual(new Set(["refresh_token"]));
    const renewed = () => audited("bea-of-replicas").filter((event) => event === "renewed");
    await expect.poll(() => renewed().length).toBe(world.brief.asked.length);
  });

  it("ends at all of them when the user logs out at one, and the server no longer accepts the tokens", async () => {
    const cid = await world.person("cid");
    world.replica = 0;
    for (const connection of ["users", "brief"]) await world.connectAccount(cid, connection);
    expect(await world.whoAmI("both", cid, { tool: "a_whoami" })).toBe("cid");
    const [token = ""] = [...world.users.tokens].slice(-1);
    expect(await world.users.isAccepted(token)).toBe(true);
    world.replica = 1;
    await cid.agent.open(`${world.base}/connect/logout`);
    world.replica = 0;
    expect(await world.whoAmI("tools", cid)).toContain("/connect/users");
    expect(await world.whoAmI("brief", cid)).toContain("/connect/brief");
    expect(await world.users.isAccepted(token)).toBe(false);
    await expect.poll(() => audited("cid")).toEqual(["granted", "granted", "revoked", "revoked"]);
  });

  it("that a user ends while it is renewed stays ended, and the new tokens are revoked", async () => {
    const dee = await world.person("dee");
    world.replica = 0;
    await world.connectAccount(dee, "brief");
    world.brief.asked.length = 0;
    const call = eventually(async () => {
      await world.whoAmI("brief", dee);
      return world.brief.asked.length > 0 || null;
    }, "a renewal");
    await eventually(() => world.brief.asked.length > 0 || null, "the request for new tokens");
    world.replica = 1;
    await world.disconnect(dee, "brief");
    await call;
    expect(await world.whoAmI("brief", dee)).toContain("/connect/brief");
    // The replica that renewed it may still be revoking the tokens.
    for (const token of world.brief.issued)
      await expect.poll(() => world.brief.isAccepted(token)).toBe(false);
  });

  it("has neither tokens nor names of users in the store", async () => {
    world.replica = 0;
    const eli = await world.person("eli-of-replicas");
    await world.connectAccount(eli, "users");
    expect(await world.whoAmI("tools", eli)).toBe("eli-of-replicas");
    const client = new Redis(redis.url);
    const keys = await client.keys("*");
    const grants = keys.filter((key) => key.includes("{user-grants}:"));
    expect(grants.length).toBeGreaterThan(0);
    const values = await Promise.all(
      keys.map(async (key) =>
        (await client.type(key)) === "set" ? client.smembers(key) : client.get(key),
      ),
    );
    client.disconnect();
    const written = JSON.stringify([keys, values]);
    const { users, brief } = world;
    const secrets = [
      ...users.issued,
      ...brief.issued,
      "eli-of-replicas",
      "bea-of-replicas",
      users.issuer,
      "refresh",
    ];
    expect(secrets.filter((each) => written.includes(each))).toEqual([]);
  });
});

it("tokens of one user never reach another, over replicas, threads, eras and routes", async () => {
  const people = await Promise.all(["p1", "p2", "p3", "p4"].map((name) => world.person(name)));
  world.replica = undefined;
  const connected = new Set<string>();
  const routes = {
    tools: "users",
    api: "users",
    site: "users",
    brief: "brief",
    second: "brief",
  } as const;
  const person = fc.integer({ min: 0, max: people.length - 1 });
  const connection = fc.constantFrom("users", "brief");
  const step = fc.oneof(
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("connect" as const), person, connection }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("disconnect" as const), person, connection }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("logout" as const), person }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("call" as const),
        calls: fc.array(
          fc.record({
            person,
            route: fc.constantFrom(...(Object.keys(routes) as (keyof typeof routes)[])),
            isStateless: fc.boolean(),
          }),
          { minLength: 2, maxLength: 12 },
        ),
      }),
    },
  );
  const at = (index: number): Person => people[index] as Person;

  async function ask(
    someone: Person,
    route: keyof typeof routes,
    isStateless: boolean,
  ): Promise<string> {
    if (route === "tools" || route === "brief")
      return world.whoAmI(route, someone, { isStateless });
    if (route === "api") {
      // Sessions of APIs belong to one replica.
      const found = await world.whoAmI(route, someone, { tool: "me", isStateless: true });
      return found.startsWith("{") ? JSON.parse(found).user : found;
    }
    const { authorization } = someone;
    const response = await fetch(`${world.base}/${route}/echo`, { headers: { authorization } });
    const { user, url } = (await response.json()) as Record<string, string>;
    return (response.status === 200 ? user : url) ?? "";
  }

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
      for (const each of steps) {
        if (each.kind === "call") {
          await Promise.all(
            each.calls.map(async ({ person: index, route, isStateless }) => {
              const someone = at(index);
              const found = await ask(someone, route, isStateless);
              if (connected.has(`${someone.name} ${routes[route]}`))
                expect(found).toBe(someone.name);
              else expect(found).toContain(`/connect/${routes[route]}`);
            }),
          );
          continue;
        }
        const someone = at(each.person);
        if (each.kind === "connect") {
          expect((await world.connectAccount(someone, each.connection)).status).toBe(200);
          connected.add(`${someone.name} ${each.connection}`);
        } else if (each.kind === "disconnect") {
          await world.disconnect(someone, each.connection);
          connected.delete(`${someone.name} ${each.connection}`);
        } else {
          await someone.agent.open(`${world.base}/connect/logout`);
          for (const name of ["users", "brief"]) connected.delete(`${someone.name} ${name}`);
        }
      }
    }),
    { numRuns: process.env.GWC_LONG_TESTS === undefined ? 6 : 60, endOnFailure: true },
  );
});
