import path from "node:path";
import { Redis } from "iovalkey";
import { afterEach, describe, expect, it } from "vitest";
import { Metrics } from "../../runtime/metrics/metrics.ts";
import { databaseFile } from "../../runtime/store/embedded-database.ts";
import { openEmbeddedStore } from "../../runtime/store/embedded-store.ts";
import type { RedisConfig } from "../../runtime/store/redis-client.ts";
import { RedisStore } from "../../runtime/store/redis-store.ts";
import type { Store } from "../../runtime/store/store.ts";
import { dayOf, monthOf, type UsageBatch, type UsageCounts } from "../../runtime/store/usage.ts";
import { eventually } from "../harness/eventually.ts";
import { type RedisProgram, RedisServer } from "../harness/redis.ts";
import { startRedisCluster } from "../harness/redis-cluster.ts";
import { startSentinel } from "../harness/redis-sentinel.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const opened: Store[] = [];

/** Usage of everybody. */
const ALL = { caller: undefined, isByCaller: true, isByPeriod: true };

function redisStore(url: string, more: Partial<RedisConfig> = {}): RedisStore {
  return new RedisStore(
    { prefix: "shop:", ...more, url },
    { warn: () => {}, metrics: new Metrics() },
  );
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

/** Returns a function that opens the same store again, as another process would. */
const kinds: Readonly<Record<string, () => Promise<() => Store | Promise<Store>>>> = {
  Redis: () => oneServer("redis-server"),
  Valkey: () => oneServer("valkey-server"),
  "Redis Cluster": () => cluster("redis-server"),
  "Valkey Cluster": () => cluster("valkey-server"),
  embedded: async () => {
    const file = databaseFile(temporaryFolder(), "shop");
    return () => openEmbeddedStore(file);
  },
};

async function oneServer(server: RedisProgram): Promise<() => Promise<Store>> {
  const { url } = await RedisServer.start({ server });
  return () => connected(url);
}

async function cluster(server: RedisProgram): Promise<() => Promise<Store>> {
  const url = await startRedisCluster(server);
  return () => connected(url, { isCluster: true });
}

async function connected(url: string, more?: Partial<RedisConfig>): Promise<Store> {
  const store = redisStore(url, more);
  await store.connect(60_000);
  return store;
}

describe.each(Object.entries(kinds))("the %s store", (_, prepare) => {
  async function stores(count: number): Promise<readonly Store[]> {
    const open = await prepare();
    const made = await Promise.all(Array.from({ length: count }, open));
    opened.push(...made);
    return made;
  }

  it("adds a batch of usage once, however often it is sent, and batches of others to it", async () => {
    const [one, other] = await stores(2);
    const counts = {
      requests: 1,
      inputTokens: 2,
      outputTokens: 3,
      cost: 4_000_000_005,
      unpriced: 0,
    };
    const row = { caller: '["key","ci"]', detail: '["fast",{}]', counts };
    const batch: UsageBatch = {
      ...{ writer: "a", sequence: 7, day: dayOf(Date.now()), keptDays: 30 },
      rows: [row, { ...row, caller: '["key","other"]' }],
    };
    await one?.addUsage(batch);
    if (one?.isLocal === false) await one.addUsage(batch);
    await other?.addUsage({ ...batch, writer: "b", sequence: 1, rows: [row] });
    await other?.addUsage({ ...batch, sequence: 8, rows: [row] });
    const found: Record<string, UsageCounts> = {};
    const periods = [batch.day, monthOf(batch.day)];
    await other?.readUsage({ ...ALL, periods }, (usage) => {
      found[`${usage.period.length} ${usage.caller}`] = usage.counts;
    });
    const three = {
      ...{ requests: 3, inputTokens: 6, outputTokens: 9 },
      ...{ cost: 12_000_000_015, unpriced: 0 },
    };
    expect(found).toEqual({
      '10 ["key","ci"]': three,
      '7 ["key","ci"]': three,
      '10 ["key","other"]': counts,
      '7 ["key","other"]': counts,
    });
    const own: string[] = [];
    await one?.readUsage(
      { ...ALL, periods: [batch.day], caller: '["key","other"]' },
      ({ caller }) => own.push(caller),
    );
    expect(own).toEqual(['["key","other"]']);
  });

  it("deletes usage after its days", async () => {
    const [store] = await stores(1);
    const counts = { requests: 1, inputTokens: 0, outputTokens: 0, cost: 0, unpriced: 0 };
    const rows = [{ caller: '["key","ci"]', detail: '["fast",{}]', counts }];
    const batch = (sequence: number, day: string) => ({
      ...{ writer: "a", sequence, day, rows, keptDays: 30 },
    });
    await store?.addUsage(batch(1, "2020-01-01"));
    await store?.addUsage(batch(2, dayOf(Date.now())));
    await store?.addUsage(batch(3, "2020-01-01"));
    await store?.addUsage(batch(4, dayOf(Date.now())));
    const found: string[] = [];
    await store?.readUsage(
      { ...ALL, periods: ["2020-01-01", "2020-01", dayOf(Date.now())] },
      (usage) => found.push(`${usage.period.slice(0, 4)} ${usage.counts.requests}`),
    );
    expect(found).toEqual([`${new Date().getUTCFullYear()} 2`]);
  });

  it("returns what another process wrote", async () => {
    const [one, other] = await stores(2);
    expect(await one?.replace("keys", "a", { was: undefined, value: "1" })).toBe(true);
    expect(await other?.read("keys", "a")).toBe("1");
    expect(await other?.list("keys")).toEqual(new Map([["a", "1"]]));
    expect(await other?.read("keys", "b")).toBeUndefined();
    expect(await other?.list("key-names")).toEqual(new Map());
  });

  it("replaces a record for one of two processes that change it at the same time", async () => {
    const [one, other] = await stores(2);
    await one?.replace("keys", "a", { was: undefined, value: "1" });
    const changes = await Promise.all([
      one?.replace("keys", "a", { was: "1", value: "2" }),
      other?.replace("keys", "a", { was: "1", value: "3" }),
    ]);
    expect(changes.filter((isDone) => isDone)).toHaveLength(1);
    expect(await one?.replace("keys", "a", { was: undefined, value: "4" })).toBe(false);
  });

  it("deletes a record", async () => {
    const [store] = await stores(1);
    await store?.replace("keys", "a", { was: undefined, value: "1" });
    expect(await store?.replace("keys", "a", { was: "1", value: undefined })).toBe(true);
    expect(await store?.read("keys", "a")).toBeUndefined();
  });

  it("forgets a record that has expired", async () => {
    const [store] = await stores(1);
    const change = { was: undefined, value: "1", expires: Date.now() - 1 };
    await store?.replace("keys", "a", change);
    expect(await store?.read("keys", "a")).toBeUndefined();
    expect(await store?.replace("keys", "a", change)).toBe(true);
  });

  it("never counts more than the limit, whichever process counts", async () => {
    const all = await stores(3);
    const use = { id: "key:a", period: "month", amount: 1, limit: 100 } as const;
    const asked = Array.from({ length: 150 }, (_each, index) => all[index % 3]?.add([use]));
    const results = await Promise.all(asked);
    expect(results.filter((result) => result?.isGranted)).toHaveLength(100);
  });

  it("counts nothing if one of several limits is exceeded", async () => {
    const [store] = await stores(1);
    const use = (id: string, amount: number, limit?: number) =>
      ({ id, period: "month", amount, limit }) as const;
    expect(await store?.add([use("key:a", 5), use("key:b", 5, 8)])).toEqual({
      isGranted: true,
      used: [5, 5],
    });
    const refused = await store?.add([use("key:a", 5), use("key:b", 5, 8)]);
    expect(refused).toMatchObject({ isGranted: false, refused: 1 });
    expect(await store?.add([use("key:a", -2), use("key:b", 0)])).toEqual({
      isGranted: true,
      used: [3, 5],
    });
  });

  it("tells when a spent counter begins again", async () => {
    const [store] = await stores(1);
    const now = Date.now();
    const result = await store?.add([{ id: "key:a", period: "day", amount: 2, limit: 1 }]);
    const midnight = (Math.floor(now / 86_400_000) + 1) * 86_400_000;
    const resetsIn = result?.isGranted === false ? result.resetsIn : 0;
    expect(Math.abs(now + resetsIn - midnight) % 86_400_000).toBeLessThan(60_000);
  });
});

it("a store behind a Sentinel follows a failover", async () => {
  const { url, replica, killPrimary } = await startSentinel();
  const store = redisStore(url, { sentinelName: "shop" });
  opened.push(store);
  await store.connect(60_000);
  expect(await store.replace("keys", "a", { was: undefined, value: "1" })).toBe(true);
  const copy = new Redis(replica.url);
  await eventually(async () => await copy.get("shop:{keys}:a"), "the copy");
  copy.disconnect();
  await killPrimary();
  const change = { was: undefined, value: "2" };
  const replaced = () => store.replace("keys", "b", change).catch(() => null);
  expect(await eventually(replaced, "another primary")).toBe(true);
  expect(await store.read("keys", "a")).toBe("1");
});

describe("a command of Redis", () => {
  it("fails if the server does not respond for seconds", async () => {
    const { url } = await RedisServer.start();
    const store = await connected(url);
    opened.push(store);
    const admin = new Redis(url);
    await admin.client("PAUSE", 600_000);
    await expect(store.read("keys", "a")).rejects.toThrow("the command timed out");
    admin.disconnect();
  });

  it("does not fail because this process does nothing for seconds", async () => {
    const { url } = await RedisServer.start();
    const store = await connected(url);
    opened.push(store);
    const read = store.read("keys", "a");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
    expect(await read).toBeUndefined();
  });
});

it("an embedded store refuses a file that is no database", () => {
  const folder = temporaryFolder({
    "shop.store.sqlite": "not a database, but some text".repeat(9),
  });
  expect(() => openEmbeddedStore(path.join(folder, "shop.store.sqlite"))).toThrow(/not a database/);
});
