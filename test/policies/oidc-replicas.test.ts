import { beforeAll, describe, expect, it } from "vitest";
import { startEcho } from "../harness/echo.ts";
import { eventually } from "../harness/eventually.ts";
import { freePorts } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import {
  CLIENT_SECRET,
  type LoginProvider,
  startLoginProvider,
} from "../harness/login-provider.ts";
import { RedisServer } from "../harness/redis.ts";
import { SteppedClock } from "../harness/stepped-clock.ts";
import { UserAgent } from "../harness/user-agent.ts";

let redis: RedisServer;
let provider: LoginProvider;
/** URLs of three replicas with two threads each, of which browsers see the first. */
let replicas: readonly [string, string, string];
let gateways: readonly Gateway[];

beforeAll(async () => {
  redis = await RedisServer.start();
  const upstream = await startEcho();
  const ports = await freePorts(3);
  const [one = 0, two = 0, three = 0] = ports;
  const urlOf = (port: number) => `http://127.0.0.1:${port}`;
  replicas = [urlOf(one), urlOf(two), urlOf(three)];
  const clients = [
    { id: "app", hasRefreshTokens: true },
    { id: "brief", hasRefreshTokens: true, lifetime: 2 },
  ];
  provider = await startLoginProvider(() =>
    clients.map((client) => ({ ...client, redirectUri: `${replicas[0]}/${client.id}-callback` })),
  );
  const routes = clients.map(({ id }) => ({
    name: id,
    matches: [{ path: { pathPrefix: `/${id}` } }],
    policies: {
      oidc: {
        issuer: provider.issuer,
        clientId: id,
        clientSecret: "${SECRET}",
        redirectURI: `${replicas[0]}/${id}-callback`,
        logout: { path: `/${id}/logout`, local: true },
      },
    },
    backends: [{ host: new URL(upstream.url).host }],
  }));
  gateways = await Promise.all(
    ports.map((port) =>
      startGateway({
        config: {
          name: "shop",
          config: { workerThreads: 2, store: { redis: { url: "${REDIS_URL}" } } },
          binds: [{ port, listeners: [{ routes }] }],
        },
        env: {
          ...{ SECRET: CLIENT_SECRET, SESSION_KEY: "5e".repeat(32), REDIS_URL: redis.url },
          // Records that replicas and threads cached do not age.
          ...new SteppedClock().env,
        },
      }),
    ),
  );
});

/** A browser with the same cookies at every replica. */
class Everywhere extends UserAgent {
  override cookies(url: string): Map<string, string> {
    const isReplica = replicas.some((each) => url.startsWith(each));
    return super.cookies(isReplica ? replicas[0] : url);
  }
}

/** A copy of a browser's cookies, as a thief has it. */
function copyOf(agent: UserAgent): Everywhere {
  const copy = new Everywhere();
  for (const [name, value] of agent.cookies(replicas[0]))
    copy.cookies(replicas[0]).set(name, value);
  return copy;
}

const statusAt = async (agent: UserAgent, replica: string): Promise<number> =>
  (await agent.ask(`${replica}/app`)).status;

describe("a logout", () => {
  it("holds at every replica and thread when the store reports it", async () => {
    const agent = new Everywhere();
    await agent.logIn(`${replicas[0]}/app`, "alice");
    const thief = copyOf(agent);
    // Every thread has the session in its cache.
    for (const replica of replicas)
      for (let i = 0; i < 8; i++) expect(await statusAt(thief, replica)).toBe(200);
    expect((await agent.ask(`${replicas[1]}/app/logout`)).body).toBe("logged out");
    for (const replica of replicas)
      await eventually(async () => {
        const found = [];
        for (let i = 0; i < 8; i++) found.push(await statusAt(copyOf(thief), replica));
        return found.every((status) => status === 302) || null;
      }, "the logout at all threads");
  });

  it("holds at a replica that did not know the session", async () => {
    const agent = new Everywhere();
    await agent.logIn(`${replicas[0]}/app`, "alice");
    const thief = copyOf(agent);
    await agent.ask(`${replicas[1]}/app/logout`);
    expect(await statusAt(copyOf(thief), replicas[2])).toBe(302);
  });
});

it("the state of a login is accepted once, at one replica", async () => {
  const agent = new Everywhere();
  const { location = "" } = await agent.ask(`${replicas[0]}/app`);
  const form = await agent.open(location);
  const thief = copyOf(agent);
  const page = await agent.submit(form, "alice");
  expect(page.status).toBe(200);
  const state = new URL(location).searchParams.get("state");
  const again = await thief.ask(`${replicas[2]}/app-callback?code=stolen&state=${state}`);
  expect(again.status).toBe(400);
  expect(again.body).toContain("already completed");
});

it("a login that several replicas renew at once is renewed once", async () => {
  const agent = new Everywhere();
  await agent.logIn(`${replicas[0]}/brief`, "alice");
  const renewals = () =>
    provider.asked.filter((form) => form.get("grant_type") === "refresh_token").length;
  const before = renewals();
  // Tokens of two seconds are renewed at three quarters of their time.
  await eventually(async () => {
    const pages = await Promise.all(
      replicas.flatMap((replica) =>
        Array.from({ length: 4 }, () => copyOf(agent).ask(`${replica}/brief`)),
      ),
    );
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
    return renewals() > before ? true : null;
  }, "a renewal");
  expect(renewals()).toBe(before + 1);
  await eventually(
    async () => ((await agent.ask(`${replicas[1]}/brief`)).status === 200 ? true : null),
    "the renewed session",
  );
});

it("sessions that a replica does not know are refused while the store is away, and known ones are not", async () => {
  const agent = new Everywhere();
  await agent.logIn(`${replicas[0]}/app`, "alice");
  for (let i = 0; i < 24; i++) expect(await statusAt(agent, replicas[0])).toBe(200);
  const unknown = new Everywhere();
  await unknown.logIn(`${replicas[0]}/app`, "bob");
  await redis.kill();
  await Promise.all(gateways.map((gateway) => gateway.seen(/the store does not respond/)));
  expect(await statusAt(agent, replicas[0])).toBe(200);
  const page = await unknown.ask(`${replicas[2]}/app`);
  expect([page.status, page.body]).toEqual([503, expect.stringContaining("cannot be checked now")]);
  // A logout that other replicas would not know of is not promised.
  expect((await agent.ask(`${replicas[0]}/app/logout`)).status).toBe(503);
  await redis.start();
  await eventually(
    async () => ((await unknown.ask(`${replicas[2]}/app`)).status === 200 ? true : null),
    "the store",
  );
  // Each replica has connections of its own, which return when they do.
  await eventually(
    async () =>
      (await agent.ask(`${replicas[0]}/app/logout`)).body === "logged out" ? true : null,
    "the store at the replica of the logout",
  );
});
