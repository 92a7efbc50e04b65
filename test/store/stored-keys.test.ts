import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Redis } from "iovalkey";
import { afterEach, describe, expect, it } from "vitest";
import { call, callWith } from "../harness/call.ts";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { type Finished, gwc } from "../harness/gwc.ts";
import { RedisServer } from "../harness/redis.ts";
import { send } from "../harness/send.ts";
import { SteppedClock } from "../harness/stepped-clock.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startHealthy } from "../llm/llm-upstream.ts";

const listener = {
  routes: [
    {
      name: "team",
      matches: [{ path: { pathPrefix: "/team" } }],
      policies: {
        apiKey: { store: true },
        authorization: { rules: ['apiKey.team == "red" && apiKey.name.startsWith("ci")'] },
        directResponse: { status: 200, body: "hello" },
      },
    },
    {
      name: "any",
      policies: { apiKey: { store: true }, directResponse: { status: 200, body: "hello" } },
    },
  ],
};

const redisOf = (prefix?: string) => ({
  config: { store: { redis: { url: "${REDIS_URL}", ...(prefix && { prefix }) } } },
});

/** A folder with the configuration, for `gwc keys`. */
function workspace(file: object, env: Readonly<Record<string, string>>) {
  const config = { ...file, name: "shop", binds: [{ port: 1, listeners: [listener] }] };
  const cwd = temporaryFolder({ "gateway.yaml": JSON.stringify(config) });
  return async (...argv: string[]): Promise<Finished> => gwc(["keys", ...argv], { cwd, env });
}

async function start(file: object, env: Readonly<Record<string, string>>): Promise<Gateway> {
  return startGateway({ listeners: [listener], file: { ...file, name: "shop" }, env });
}

const statusOf = async (gateway: Gateway, key: string, route = "any") =>
  (await callWith(`${gateway.url}/${route}`, key)).status;

/** Waits until a gateway refuses a key. */
async function refused(gateway: Gateway, key: string, route?: string): Promise<void> {
  const isRefused = async () => (await statusOf(gateway, key, route)) === 401 || null;
  await eventually(isRefused, "the refusal of a key");
}

async function made(result: Promise<Finished>): Promise<string> {
  const { code, stdout, stderr } = await result;
  expect(stderr).toContain("it is shown only now");
  expect(code).toBe(0);
  return stdout.trim();
}

describe("keys made at run time, in Redis", () => {
  it("are accepted by all replicas, and refused by all when the store reports that they are revoked", async () => {
    // Records that replicas cached do not age.
    const env = { REDIS_URL: (await RedisServer.start()).url, ...new SteppedClock().env };
    const keys = workspace(redisOf(), env);
    const replicas = await Promise.all([1, 2].map(() => start(redisOf(), env)));
    const key = await made(keys("create", "ci", "--metadata", "team=red"));
    const other = await made(keys("create", "ci-blue", "--metadata", "team=blue"));
    for (const gateway of replicas) {
      expect(await statusOf(gateway, key, "team")).toBe(200);
      expect(await statusOf(gateway, other, "team")).toBe(403);
      expect(await statusOf(gateway, other)).toBe(200);
      expect(await statusOf(gateway, `${key}x`)).toBe(401);
    }
    expect((await keys("revoke", "ci")).code).toBe(0);
    for (const gateway of replicas) {
      await refused(gateway, key, "team");
      expect(await statusOf(gateway, other)).toBe(200);
    }
  });

  it("are refused within a second of being revoked if the store may not report changes", async () => {
    const redis = await RedisServer.start();
    const admin = connect(redis.url);
    await admin.call("ACL", "SETUSER", "gateway", "on", ">pw", "~*", "+@all", "resetchannels");
    const url = redis.url.replace("redis://", "redis://gateway:pw@");
    const keys = workspace(redisOf(), { REDIS_URL: redis.url });
    const clock = new SteppedClock();
    const gateway = await start(redisOf(), { REDIS_URL: url, ...clock.env });
    // It asks for reports when the first key is looked up.
    expect(await statusOf(gateway, "unknown")).toBe(401);
    await gateway.seen(/the store does not report changes, so they are asked for: NOPERM/);
    const key = await made(keys("create", "ci"));
    expect(await statusOf(gateway, key)).toBe(200);
    expect((await keys("revoke", "ci")).code).toBe(0);
    expect(await statusOf(gateway, key)).toBe(200);
    clock.pass(1000);
    expect(await statusOf(gateway, key)).toBe(401);
  });

  it("have limits that replicas share exactly, also when one of them is killed", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const keys = workspace(redisOf(), env);
    const [one, other] = await Promise.all([start(redisOf(), env), start(redisOf(), env)]);
    const key = await made(keys("create", "ci", "--rate", "100/month"));
    const half = await statuses(50, (index) => (index % 2 === 0 ? one : other), key);
    expect(half.filter((status) => status === 200)).toHaveLength(50);
    await one?.stop("SIGKILL");
    const rest = await statuses(80, () => other, key);
    expect(rest.filter((status) => status === 200)).toHaveLength(50);
    expect(rest.filter((status) => status === 429)).toHaveLength(30);
    const refused = await callWith(`${other?.url}/any`, key);
    expect(refused.body).toMatch(
      /^rate limit exceeded: requests of the API key per month; it resets at .*-01T00:00:0\dZ$/,
    );
    expect(refused.headers).toMatchObject({ "x-ratelimit-limit": "100" });
  });

  it("are counted, revoked and accepted alike by replicas whose clocks differ by an hour", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const clock = (ahead: number) => ({ ...env, ...new SteppedClock(ahead).env });
    const keys = workspace(redisOf(), env);
    const [ahead, behind] = await Promise.all([
      start(redisOf(), clock(3_600_000)),
      start(redisOf(), clock(-3_600_000)),
    ]);
    const key = await made(keys("create", "ci", "--rate", "20/hour", "--expires", "1d"));
    const found = await statuses(30, (index) => (index % 2 === 0 ? ahead : behind), key);
    expect(found.filter((status) => status === 200)).toHaveLength(20);
    const other = await made(keys("create", "other", "--expires", "1d"));
    for (const gateway of [ahead, behind]) expect(await statusOf(gateway, other)).toBe(200);
    expect((await keys("revoke", "other")).code).toBe(0);
    for (const gateway of [ahead, behind]) await refused(gateway, other);
  });

  it("are known during an outage, while unknown ones get 503, and readiness is unaffected", async () => {
    const redis = await RedisServer.start();
    const env = { REDIS_URL: redis.url };
    const keys = workspace(redisOf(), env);
    const gateway = await start(redisOf(), env);
    const key = await made(keys("create", "ci", "--rate", "1000/month"));
    const later = await made(keys("create", "later"));
    expect(await statusOf(gateway, key)).toBe(200);
    await redis.kill();
    await gateway.seen(/the store does not respond/);
    expect(await statusOf(gateway, key)).toBe(200);
    const unknown = await callWith(`${gateway.url}/any`, later);
    expect(unknown).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    const [ready, stats] = [await gateway.readinessPort(), await gateway.statsPort()];
    expect((await call(`http://127.0.0.1:${ready}/healthz/ready`, {})).status).toBe(200);
    const figures = async () => (await call(`http://127.0.0.1:${stats}/metrics`, {})).body;
    expect(await figures()).toContain("gwc_store_up 0");
    expect((await keys("list")).stderr).toMatch(/^error: .*ECONNREFUSED/);
    await redis.start();
    await gateway.seen(/the store responds again/);
    expect(await statusOf(gateway, later)).toBe(200);
    expect(await figures()).toContain("gwc_store_up 1");
    expect(gateway.output.match(/the store does not respond/g)).toHaveLength(1);
    // The counts of the outage are in the store.
    const counter = async () => (await connect(redis.url).keys("*requests:month"))[0] ?? "";
    expect(await statusOf(gateway, key)).toBe(200);
    expect(await connect(redis.url).hget(await counter(), "used")).toBe("3");
  });

  it("need no store to start, and the log says why it is away without the password", async () => {
    const { url } = await RedisServer.start({ password: "right" });
    const env = { REDIS_URL: url.replace("right", "wrong-password") };
    const gateway = await start(redisOf(), env);
    await gateway.seen(/the store does not respond: WRONGPASS/);
    expect(await statusOf(gateway, "gwc_some-key")).toBe(503);
    expect(gateway.output).not.toContain("wrong-password");
    expect((await workspace(redisOf(), env)("list")).stderr).toMatch(/^error: WRONGPASS/);
  });

  it("are unknown after the store was emptied", async () => {
    const { url } = await RedisServer.start();
    const keys = workspace(redisOf(), { REDIS_URL: url });
    const key = await made(keys("create", "ci"));
    const gateway = await start(redisOf(), { REDIS_URL: url });
    await connect(url).flushall();
    expect(await statusOf(gateway, key)).toBe(401);
    expect((await keys("list")).stdout.split("\n")).toHaveLength(2);
  });

  it("are valid in a full store, which takes no new ones", async () => {
    const { url } = await RedisServer.start();
    const keys = workspace(redisOf(), { REDIS_URL: url });
    const key = await made(keys("create", "ci", "--rate", "5/month"));
    const gateway = await start(redisOf(), { REDIS_URL: url });
    await connect(url).config("SET", "maxmemory", "1");
    expect(await statusOf(gateway, key)).toBe(200);
    const refused = await keys("create", "other");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/^error: OOM/);
  });

  it("are separate for each prefix", async () => {
    const env = { REDIS_URL: (await RedisServer.start()).url };
    const [own, other] = ["gwc:", "gwc:keys:"];
    const key = await made(workspace(redisOf(own), env)("create", "ci"));
    const gateway = await start(redisOf(other), env);
    expect(await statusOf(gateway, key)).toBe(401);
    expect((await workspace(redisOf(other), env)("list")).stdout).not.toContain("ci");
  });

  it("are only hashes in the store, which are no keys themselves", async () => {
    const { url } = await RedisServer.start();
    const keys = workspace(redisOf("p:"), { REDIS_URL: url });
    const key = await made(keys("create", "ci", "--expires", "90d"));
    const gateway = await start(redisOf("p:"), { REDIS_URL: url });
    const redis = connect(url);
    const names = await redis.keys("*");
    const digest = createHash("sha256").update(key).digest("hex");
    expect(names.toSorted()).toEqual(
      ["p:{key-names}", "p:{key-names}:ci", "p:{keys}", `p:{keys}:${digest}`].toSorted(),
    );
    expect(await redis.get(`p:{keys}:${digest}`)).not.toContain(key.slice(8));
    expect(await redis.pttl(`p:{keys}:${digest}`)).toBeGreaterThan(0);
    expect(await statusOf(gateway, digest)).toBe(401);
    expect(await statusOf(gateway, key)).toBe(200);
    expect(gateway.output).not.toContain(key);
    expect(readFileSync(path.join(gateway.folder, "gateway.mjs"), "utf8")).not.toContain(url);
  });

  it.each([
    ["a record of another key", (record: string) => record],
    ["a record that is no JSON", () => "{"],
    [
      "a record of a later version",
      (record: string) => record.replace('"version":1', '"version":2'),
    ],
    ["a record without limits", (record: string) => record.replace('"limits":[],', "")],
  ])("admit nobody by %s", async (_, forge) => {
    const { url } = await RedisServer.start();
    const keys = workspace(redisOf("p:"), { REDIS_URL: url });
    const key = await made(keys("create", "ci"));
    const gateway = await start(redisOf("p:"), { REDIS_URL: url });
    const redis = connect(url);
    const digest = createHash("sha256").update(key).digest("hex");
    const record = (await redis.get(`p:{keys}:${digest}`)) ?? "";
    const forged = createHash("sha256").update("forged").digest("hex");
    await redis.set(`p:{keys}:${forged}`, forge(record));
    expect(await statusOf(gateway, "forged")).toBe(401);
    await gateway.seen(/a record of the store is no API key, and admits nobody/);
    expect(await statusOf(gateway, key)).toBe(200);
  });
});

describe("keys made at run time, for models", () => {
  const catalog = { providers: { openai: { models: { m: { rates: { input: 10_000 } } } } } };

  async function startModels() {
    const env = { REDIS_URL: (await RedisServer.start()).url, KEY: "provider-key" };
    const { config } = redisOf();
    const upstream = await startHealthy();
    const file = { name: "shop", config: { ...config, modelCatalog: [{ inline: catalog }] } };
    const gateway = await startGateway({
      env,
      file,
      listeners: [
        {
          routes: [
            {
              policies: { apiKey: { store: true }, backendAuth: { key: "${KEY}" } },
              backends: [{ ai: { provider: { openAI: {} }, hostOverride: upstream.host } }],
            },
          ],
        },
      ],
    });
    const ask = async (key: string, model = "m") => {
      const { status, body } = await send(
        `${gateway.url}/v1/chat/completions`,
        "POST",
        { authorization: `Bearer ${key}`, "content-type": "application/json" },
        JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] }),
      );
      return status === 429 ? body : status;
    };
    return { gateway, ask, keys: workspace(redisOf(), env) };
  }

  it("may use the models of the key alone", async () => {
    const { ask, keys } = await startModels();
    const key = await made(keys("create", "ci", "--models", "m,gpt-*"));
    expect(await ask(key)).toBe(200);
    expect(await ask(key, "gpt-5")).toBe(200);
    expect(await ask(key, "other")).toBe(403);
  });

  it("spend their tokens and their budget", async () => {
    // A completion has 20 tokens of input and 5 of output, and costs 0.2 dollars.
    const { ask, keys } = await startModels();
    const tokens = await made(keys("create", "tokens", "--tokens", "30/month"));
    const budget = await made(keys("create", "budget", "--budget", "0.3/month"));
    const spent = async (key: string) => [await ask(key), await ask(key), await ask(key)];
    expect(await spent(tokens)).toEqual([
      ...[200, 200],
      expect.stringContaining("tokens of the API key per month"),
    ]);
    expect(await spent(budget)).toEqual([
      ...[200, 200],
      expect.stringContaining("budget of the API key per month"),
    ]);
  });

  it("are logged once per model that has no price", async () => {
    const { ask, keys, gateway } = await startModels();
    const key = await made(keys("create", "budget", "--budget", "0.3/month"));
    await ask(key, "unpriced");
    await gateway.seen(/did not count a call of "unpriced" on route .* for its API key: no cost/);
    await ask(key, "unpriced");
    expect(gateway.output.match(/did not count a call of/g)).toHaveLength(1);
  });
});

describe("keys made at run time, without Redis", () => {
  it("are in a file of the state directory, and survive a restart", async () => {
    const env = { GWC_STATE_DIR: temporaryFolder() };
    const keys = workspace({}, env);
    const gateway = await start({}, env);
    const key = await made(keys("create", "ci", "--metadata", "team=red", "--rate", "3/month"));
    expect(await statusOf(gateway, key, "team")).toBe(200);
    await gateway.stop();
    const again = await start({}, env);
    expect(await statusOf(again, key, "team")).toBe(200);
    expect(await statusOf(again, key, "team")).toBe(200);
    expect(await statusOf(again, key, "team")).toBe(429);
    expect((await keys("revoke", "ci")).code).toBe(0);
    expect(await statusOf(again, key, "team")).toBe(401);
    const file = readFileSync(path.join(env.GWC_STATE_DIR, "shop.store.sqlite"), "latin1");
    expect(file).not.toContain(key.slice(8));
  });

  it("need the directory when the gateway starts", async () => {
    await expect(start({}, {})).rejects.toThrow(/set GWC_STATE_DIR to a folder/);
  });

  it("are not made without the directory", async () => {
    const result = await workspace({}, {})("create", "ci");
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("set GWC_STATE_DIR");
  });
});

const connections: Redis[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.disconnect();
});

function connect(url: string): Redis {
  const connection = new Redis(url);
  connections.push(connection);
  return connection;
}

async function statuses(
  count: number,
  to: (index: number) => Gateway | undefined,
  key: string,
): Promise<readonly number[]> {
  const asked = Array.from({ length: count }, async (_, index) => {
    const gateway = to(index);
    return gateway === undefined ? 0 : statusOf(gateway, key);
  });
  return Promise.all(asked);
}
