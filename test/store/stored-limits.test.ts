import path from "node:path";
import { Redis } from "iovalkey";
import { Agent, request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RedisServer, redisPrograms } from "../harness/redis.ts";
import { startRedisCluster } from "../harness/redis-cluster.ts";
import { startSentinel } from "../harness/redis-sentinel.ts";
import { send } from "../harness/send.ts";
import { startSlowWay } from "../harness/slow-way.ts";
import { storeResponds } from "../harness/store-responds.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startHealthy } from "../llm/llm-upstream.ts";

const redisOf = (more: object = {}) => ({
  config: { store: { redis: { url: "${REDIS_URL}", prefix: "shop:", ...more } } },
});

/** A route for each list of limits, below its name. */
function routesOf(limits: Readonly<Record<string, readonly object[]>>) {
  return Object.entries(limits).map(([name, localRateLimit]) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    policies: { localRateLimit, directResponse: { status: 200, body: "hello" } },
  }));
}

function start(
  limits: Readonly<Record<string, readonly object[]>>,
  env: Readonly<Record<string, string>>,
  file: object = redisOf(),
): Promise<Gateway> {
  return startGateway({
    listeners: [{ routes: routesOf(limits) }],
    file: { ...file, name: "shop" },
    env,
  });
}

const agents: Agent[] = [];
const connections: Redis[] = [];

afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.destroy()));
  for (const each of connections.splice(0)) each.disconnect();
});

function connect(url: string): Redis {
  const connection = new Redis(url);
  connections.push(connection);
  return connection;
}

/** Sends requests with 500 clients, in turn to the replicas. Returns how many responses have each status. */
async function flood(
  replicas: readonly Gateway[],
  route: string,
  count: number,
  during: (sent: number) => unknown = () => {},
): Promise<Readonly<Record<number, number>>> {
  const agent = new Agent({ connections: Math.ceil(500 / replicas.length) });
  agents.push(agent);
  const found: Record<number, number> = {};
  let sent = 0;
  const client = async (index: number): Promise<void> => {
    while (sent < count) {
      sent += 1;
      void during(sent);
      const url = `${replicas[index % replicas.length]?.url}/${route}`;
      const status = await request(url, { dispatcher: agent }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return statusCode;
        },
        () => 0,
      );
      found[status] = (found[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 500 }, (_, index) => client(index)));
  return found;
}

const statusOf = async (gateway: Gateway, route: string, team = "a") =>
  (await call(`${gateway.url}/${route}`, { "x-team": team })).status;

/** Sends requests until one is refused. Returns how many were granted. */
async function granted(gateway: Gateway, route: string, most = 1000): Promise<number> {
  for (let count = 0; count < most; count++)
    if ((await statusOf(gateway, route)) !== 200) return count;
  return most;
}

const monthly = (requests: number, more: object = {}) => ({ requests, unit: "Months", ...more });

describe("limits that three replicas share", () => {
  const limits = {
    l1: [monthly(1)],
    l10: [monthly(10)],
    l1000: [monthly(1000)],
    s1: [monthly(1, { consistency: "strict" })],
    s1000: [monthly(1000, { consistency: "strict" })],
  };

  it.each(redisPrograms)("are granted exactly to 500 clients by %s", async (server) => {
    const env = { REDIS_URL: (await RedisServer.start({ server })).url };
    const replicas = await Promise.all([1, 2, 3].map(() => start(limits, env)));
    for (const [route, limit] of [
      ["l1", 1],
      ["l10", 10],
      ["s1", 1],
      ["s1000", 1000],
    ] as const) {
      const found = await flood(replicas, route, limit + 600);
      expect([route, found]).toEqual([route, { 200: limit, 429: 600 }]);
    }
    const { 200: passed = 0 } = await flood(replicas, "l1000", 1600);
    expect(passed).toBeLessThanOrEqual(1000);
    expect(passed).toBeGreaterThanOrEqual(833);
    // Slices that nobody uses are given back.
    const [first] = replicas;
    if (first === undefined) throw new Error("no replica");
    let all = passed;
    await eventually(async () => {
      all += await granted(first, "l1000");
      return all === 1000 ? true : null;
    }, "the rest of the limit");
    expect(await statusOf(first, "l1000")).toBe(429);
  });

  it("are not counted twice if a replica is killed, which loses at most its slice", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const replicas = await Promise.all([1, 2, 3].map(() => start(limits, env)));
    const found = await flood(replicas, "l1000", 2000, (sent) => {
      if (sent === 600) void replicas[0]?.stop("SIGKILL");
    });
    // Granted, but not received, is possible for a request to the killed replica.
    expect(found[200] ?? 0).toBeLessThanOrEqual(1000);
    expect((found[200] ?? 0) + (found[0] ?? 0)).toBeGreaterThanOrEqual(700);
  });

  it("give their slices back when they end", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const [one, other] = await Promise.all([start(limits, env), start(limits, env)]);
    expect(await statusOf(one, "l1000")).toBe(200);
    await one.stop();
    const used = await connect(env.REDIS_URL).hget("shop:{limit:l1000/perMonth:month}", "used");
    expect(used).toBe("1");
    expect(await statusOf(other, "l1000")).toBe(200);
  });

  it("are not exceeded if Redis is killed and started again, or emptied", async () => {
    const redis = await RedisServer.start();
    const closed = { l1000: [monthly(1000, { onStoreFailure: "closed" })] };
    const env = { REDIS_URL: redis.url };
    const replicas = await Promise.all([1, 2, 3].map(() => start(closed, env)));
    const admin = connect(redis.url);
    let passed = (await flood(replicas, "l1000", 600))[200] ?? 0;
    await redis.kill();
    passed += (await flood(replicas, "l1000", 600))[200] ?? 0;
    await redis.start();
    for (const each of replicas) await each.seen(/the store responds again/);
    passed += (await flood(replicas, "l1000", 200))[200] ?? 0;
    await eventually(() => admin.flushall(), "Redis");
    passed += (await flood(replicas, "l1000", 600))[200] ?? 0;
    expect(passed).toBeLessThanOrEqual(1000);
    expect(passed).toBeGreaterThanOrEqual(800);
  });
});

it.each(redisPrograms)("limits are not exceeded in a failover of %s", async (server) => {
  const { url, killPrimary } = await startSentinel(server);
  const limits = { l1000: [monthly(1000, { onStoreFailure: "closed" })] };
  const file = redisOf({ sentinel: "shop" });
  const replicas = await Promise.all([1, 2, 3].map(() => start(limits, { REDIS_URL: url }, file)));
  let passed = (await flood(replicas, "l1000", 500))[200] ?? 0;
  const during = flood(replicas, "l1000", 400, (sent) => sent === 200 && killPrimary());
  passed += (await during)[200] ?? 0;
  for (const each of replicas) await each.seen(/the store responds again/);
  passed += (await flood(replicas, "l1000", 800))[200] ?? 0;
  expect(passed).toBeLessThanOrEqual(1000);
  expect(passed).toBeGreaterThanOrEqual(700);
});

describe("a limit of tokens that replicas share", () => {
  it.each(["leased", "strict"])("counts the calls of all, %s", async (consistency) => {
    // A completion has 25 tokens.
    const [one, other] = await startModels([{ tokens: 60, unit: "Months", consistency }]);
    expect(await ask(one)).toBe(200);
    await counted(25);
    expect(await ask(other)).toBe(200);
    await counted(50);
    expect(await ask(one)).toBe(200);
    await counted(75);
    expect(await ask(other)).toBe(429);
    expect(await ask(one)).toBe(429);
  });

  it("counts money", async () => {
    const [one, other] = await startModels([{ budget: 1, unit: "Months", cost: "0.6" }]);
    expect([await ask(one), await ask(other)]).toEqual([200, 200]);
    await counted(1.2);
    expect(await ask(one)).toBe(429);
  });

  it("is not exceeded by concurrent calls whose tokens are estimated", async () => {
    // 1,000 estimated tokens each, of which 25 are used.
    const limit = { tokens: 10_000, unit: "Months", consistency: "strict" };
    const [one, other] = await startModels([limit], { tokenize: true });
    const asked = Array.from({ length: 40 }, (_, i) => ask(i % 2 === 0 ? one : other, 4000));
    const found = await Promise.all(asked);
    const passed = found.filter((status) => status === 200).length;
    expect(passed).toBeGreaterThan(0);
    await counted(25 * passed);
  });

  it("on a listener applies to calls of models", async () => {
    const limit = [{ tokens: 20, unit: "Months" }];
    const [one, other] = await startModels([], {}, { localRateLimit: limit });
    expect(await ask(one)).toBe(200);
    await counted(25);
    expect(await ask(other)).toBe(429);
  });
});

let url = "";

/** Two replicas before a model, with limits of the route and policies of the listener. */
async function startModels(
  limits: readonly object[],
  provider: object = {},
  listenerPolicies?: object,
): Promise<readonly [Gateway, Gateway]> {
  url = (await RedisServer.start()).url;
  const upstream = await startHealthy();
  const route = {
    name: "models",
    policies: {
      ...(limits.length > 0 && { localRateLimit: limits }),
      backendAuth: { key: "${KEY}" },
    },
    backends: [{ ai: { provider: { openAI: {} }, ...provider, hostOverride: upstream.host } }],
  };
  const replica = () =>
    startGateway({
      listeners: [
        {
          name: "front",
          ...(listenerPolicies && { policies: listenerPolicies }),
          routes: [route],
        },
      ],
      file: { ...redisOf(), name: "shop" },
      env: { REDIS_URL: url, KEY: "provider-key" },
    });
  return Promise.all([replica(), replica()]);
}

/** Status of a completion whose request has this many characters. */
async function ask(gateway: Gateway, length = 5): Promise<number> {
  const { status } = await send(
    `${gateway.url}/v1/chat/completions`,
    "POST",
    { "content-type": "application/json" },
    JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(length) }] }),
  );
  return status;
}

/** Waits until the replicas have given back what they did not use. */
async function counted(amount: number): Promise<void> {
  const redis = connect(url);
  await eventually(async () => {
    const [key = ""] = await redis.keys("shop:{limit:*");
    const used = Number(await redis.hget(key, "used"));
    return Math.abs(used - amount) < 1e-9 ? true : null;
  }, `the use of ${amount}`);
}

describe("a limit that replicas share", () => {
  it("counts each caller, whose key is in the store as a digest only", async () => {
    const keyed = { team: [monthly(2, { key: 'request.headers["x-team"]' })] };
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const [one, other] = await Promise.all([start(keyed, env), start(keyed, env)]);
    const of = async (team: string) => [
      await statusOf(one, "team", team),
      await statusOf(other, "team", team),
      await statusOf(one, "team", team),
    ];
    expect(await of("secret-team")).toEqual([200, 200, 429]);
    expect(await of("other")).toEqual([200, 200, 429]);
    expect((await connect(env.REDIS_URL).keys("*")).join()).not.toContain("secret-team");
  });

  it("is the same for replicas whose clocks differ by an hour", async () => {
    const clock = `const now = Date.now; Date.now = () => now() + 3_600_000;`;
    const folder = temporaryFolder({ "clock.mjs": clock });
    const hourly = {
      hour: [{ requests: 10, unit: "Hours" }],
      day: [{ requests: 10, unit: "Days" }],
    };
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const ahead = { ...env, NODE_OPTIONS: `--import=${path.join(folder, "clock.mjs")}` };
    const [one, other] = await Promise.all([start(hourly, env), start(hourly, ahead)]);
    for (const route of ["hour", "day"]) {
      const found = [];
      for (let i = 0; i < 12; i++) found.push(await statusOf(i % 2 === 0 ? one : other, route));
      expect(found.filter((status) => status === 200).length).toBe(10);
    }
  });

  it("is not shared between prefixes, and shared by gateways with one prefix, each with its own size", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const [small, large, apart] = await Promise.all([
      start({ l: [monthly(5)] }, env),
      start({ l: [monthly(8)] }, env),
      start({ l: [monthly(5)] }, env, redisOf({ prefix: "other:" })),
    ]);
    for (let i = 0; i < 5; i++) expect(await statusOf(large, "l")).toBe(200);
    // The slice of the large one is given back.
    expect(
      await eventually(async () => ((await statusOf(small, "l")) === 429 ? true : null), ""),
    ).toBe(true);
    expect(await granted(large, "l")).toBe(3);
    expect(await granted(apart, "l")).toBe(5);
  });

  it("takes nothing if another limit of the request refuses it", async () => {
    const two = {
      two: [
        monthly(3, { consistency: "strict", key: '"all"' }),
        monthly(1, { consistency: "strict" }),
      ],
    };
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const gateway = await start(two, env);
    expect(await statusOf(gateway, "two")).toBe(200);
    for (let i = 0; i < 5; i++) expect(await statusOf(gateway, "two")).toBe(429);
    const redis = connect(env.REDIS_URL);
    const used = async () => {
      const keys = (await redis.keys("*perMonthByKey*")).sort();
      return redis.hget(keys[0] ?? "", "used");
    };
    expect(await eventually(async () => ((await used()) === "1" ? true : null), "the count")).toBe(
      true,
    );
  });

  it.each(redisPrograms)("works in a cluster of %s", async (server) => {
    const env = { REDIS_URL: await startRedisCluster(server) };
    const two = { two: [monthly(4, { consistency: "strict", key: '"all"' }), monthly(9)] };
    const file = redisOf({ cluster: true });
    const [one, other] = await Promise.all([start(two, env, file), start(two, env, file)]);
    expect([await granted(one, "two", 2), await granted(other, "two")]).toEqual([2, 2]);
  });

  it("is refused with its reset", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const gateway = await start({ l: [{ requests: 1, unit: "Minutes" }] }, env);
    expect(await statusOf(gateway, "l")).toBe(200);
    const { status, headers, body } = await call(`${gateway.url}/l`, {});
    expect({ status, body }).toEqual({ status: 429, body: "rate limit exceeded" });
    expect(headers).toMatchObject({ "x-ratelimit-limit": "1", "x-ratelimit-remaining": "0" });
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(headers["retry-after"])).toBeLessThanOrEqual(60);
  });
});

describe("without its store, a limit", () => {
  const limits = {
    local: [monthly(10)],
    closed: [monthly(10, { onStoreFailure: "closed" })],
    open: [monthly(10, { onStoreFailure: "open" })],
  };

  it("is counted by each replica from what was left, refused, or open", async () => {
    const redis = await RedisServer.start();
    const gateway = await start(limits, { REDIS_URL: redis.url });
    for (const route of Object.keys(limits))
      for (let i = 0; i < 4; i++) expect(await statusOf(gateway, route)).toBe(200);
    await redis.kill();
    await gateway.seen(/the store does not respond/);
    expect(await granted(gateway, "local")).toBe(6);
    expect(await granted(gateway, "open", 30)).toBe(30);
    await granted(gateway, "closed");
    const away = await call(`${gateway.url}/closed`, {});
    expect(away).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(away.body).toBe("limits cannot be counted now");
    const stats = await gateway.statsPort();
    const figures = (await call(`http://127.0.0.1:${stats}/metrics`, {})).body;
    expect(figures).toMatch(/gwc_store_fallbacks_total\{decision="closed"\} \d/);
    expect(figures).toMatch(/gwc_store_fallbacks_total\{decision="open"\} \d/);
    expect(figures).toMatch(/gwc_store_fallbacks_total\{decision="local"\} \d/);
    const ready = await gateway.readinessPort();
    expect((await call(`http://127.0.0.1:${ready}/healthz/ready`, {})).status).toBe(200);
    await redis.start();
    await gateway.seen(/the store responds again/);
    expect(gateway.output.match(/the store does not respond/g)).toHaveLength(1);
    // The store learns of requests that were counted alone.
    expect(await statusOf(gateway, "local")).toBe(429);
    expect(await statusOf(await start(limits, { REDIS_URL: redis.url }), "local")).toBe(429);
    expect(await statusOf(gateway, "closed")).toBe(200);
  });

  it.each([
    [
      "a wrong password",
      async () => (await RedisServer.start({ password: "right" })).url.replace("right", "wrong"),
    ],
    ["an absent server", async () => "redis://127.0.0.1:1"],
    [
      "full memory",
      async () => {
        const { url } = await RedisServer.start({ options: ["--maxmemory", "1"] });
        return url;
      },
    ],
  ])("starts and decides alone with %s", async (_, made) => {
    const gateway = await start(limits, { REDIS_URL: await made() });
    expect(await granted(gateway, "local")).toBe(10);
    expect(await statusOf(gateway, "closed")).toBe(503);
    expect(await granted(gateway, "open", 20)).toBe(20);
    expect(gateway.output).not.toContain("wrong@");
  });

  it("is as exact with a store that takes 200 ms, and survives a cut", async () => {
    const redis = await RedisServer.start();
    const way = await startSlowWay(redis.port, 200);
    const env = { REDIS_URL: redis.url.replace(String(redis.port), String(way.port)) };
    const slow = { l: [monthly(100, { onStoreFailure: "closed" })] };
    const [one, other] = await Promise.all([start(slow, env), start(slow, env)]);
    await Promise.all([one, other].map(storeResponds));
    const found = await flood([one, other], "l", 700);
    expect(found[200] ?? 0).toBeLessThanOrEqual(100);
    expect(found[200] ?? 0).toBeGreaterThanOrEqual(83);
    way.cut();
    await one.seen(/the store does not respond/);
    way.delay = 0;
    way.mend();
    await one.seen(/the store responds again/);
    let all = found[200] ?? 0;
    await eventually(async () => {
      all += await granted(one, "l");
      return all >= 84 ? true : null;
    }, "the rest");
    expect(all).toBeLessThanOrEqual(100);
  });
});

describe("an optional store", () => {
  const optional = redisOf({ url: "${REDIS_URL:-}" });
  const limits = { l: [monthly(3)] };

  it("is not needed: a replica without it counts for itself, across restarts", async () => {
    const env = { GWC_STATE_DIR: temporaryFolder() };
    const gateway = await start(limits, env, optional);
    expect(await granted(gateway, "l", 2)).toBe(2);
    await gateway.stop();
    expect(await granted(await start(limits, env, optional), "l")).toBe(1);
  });

  it("is shared if it is named", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const [one, other] = await Promise.all([
      start(limits, env, optional),
      start(limits, env, optional),
    ]);
    expect([await statusOf(one, "l"), await statusOf(other, "l")]).toEqual([200, 200]);
    expect([await statusOf(one, "l"), await statusOf(other, "l")]).toEqual([200, 429]);
  });
});
