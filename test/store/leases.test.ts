import { setImmediate } from "node:timers/promises";
import { Redis } from "iovalkey";
import { afterEach, describe, expect, it } from "vitest";
import { Metrics } from "../../runtime/metrics/metrics.ts";
import {
  LimitLease,
  type StoreFailure,
  type TakeResult,
} from "../../runtime/policies/local-rate-limit/lease.ts";
import { calendarMonths, interval } from "../../runtime/policies/local-rate-limit/windows.ts";
import type { BucketShape, Buckets } from "../../runtime/store/buckets.ts";
import { RedisStore } from "../../runtime/store/redis-store.ts";
import { StoreError } from "../../runtime/store/store.ts";
import { RedisServer } from "../harness/redis.ts";

const opened: RedisStore[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function connect(url: string, isCluster = false): Promise<RedisStore> {
  const settings = { url, prefix: "shop:", isCluster };
  const store = new RedisStore(settings, { warn: () => {}, metrics: new Metrics() });
  opened.push(store);
  await store.connect(60_000);
  return store;
}

/** A month's limit, unless its shape says otherwise. */
function lease(
  buckets: Buckets,
  shape: Partial<BucketShape> & { readonly capacity: number },
  { isStrict = false, onStoreFailure = "closed" as StoreFailure } = {},
): LimitLease {
  const window = shape.window ?? "month";
  const opened = new LimitLease(
    "route/limit",
    {
      shape: { refill: shape.capacity, isWhole: true, ...shape, window },
      window: typeof window === "number" ? interval(window) : calendarMonths,
      isStrict,
      onStoreFailure,
    },
    { buckets, onUse: () => {}, onFallback: () => {} },
  );
  buckets.onLoss(() => void opened.reportAgain());
  return opened;
}

async function grants(verdicts: readonly (TakeResult | Promise<TakeResult>)[]): Promise<number> {
  return (await Promise.all(verdicts)).filter((verdict) => verdict === 0).length;
}

/** Random numbers from 0 to 1, the same in each run of a seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

describe.each([false, true])("a limit of three replicas, strict: %s", (isStrict) => {
  it.each([1, 10, 1000, 100_000])("of %d is granted exactly", async (capacity) => {
    const { url } = await RedisServer.start();
    const replicas = await Promise.all([1, 2, 3].map(() => connect(url)));
    const leases = replicas.map(({ buckets }) => lease(buckets, { capacity }, { isStrict }));
    let granted = 0;
    let wanted = capacity + 1000;
    // 500 clients, each with one request at a time.
    const client = async (index: number): Promise<void> => {
      while (wanted > 0) {
        wanted -= 1;
        if ((await leases[index % 3]?.take(1)) === 0) granted += 1;
      }
    };
    await Promise.all(Array.from({ length: 500 }, (_, index) => client(index)));
    expect(granted).toBeLessThanOrEqual(capacity);
    expect(granted).toBeGreaterThanOrEqual(isStrict ? capacity : Math.floor((capacity * 5) / 6));
    // Unused slices of the others are given back.
    for (const each of leases) await each.close();
    const last = lease(replicas[0]?.buckets ?? never(), { capacity }, { isStrict: true });
    const rest = await grants(Array.from({ length: capacity - granted + 50 }, () => last.take(1)));
    expect(granted + rest).toBe(capacity);
  });
});

function never(): never {
  throw new Error("no replica");
}

/** Buckets whose responses, or questions, are lost at times. */
function unreliable(buckets: Buckets, random: () => number): Buckets {
  return {
    take: async (report) => {
      if (random() < 0.1) throw new StoreError("the question was lost");
      const state = await buckets.take(report);
      if (random() < 0.1) throw new StoreError("the response was lost");
      return state;
    },
    onLoss: (listener) => buckets.onLoss(listener),
  };
}

describe("a limit is never exceeded, and what is granted is at least what was not lent,", () => {
  it.each([1, 2, 3, 4, 5, 6])("if questions and responses are lost (%d)", async (seed) => {
    const random = randomNumbers(seed);
    const { url } = await RedisServer.start();
    const { buckets } = await connect(url);
    const leases = [1, 2, 3].map(() => lease(unreliable(buckets, random), { capacity: 500 }));
    let granted = 0;
    for (let round = 0; round < 150; round++) {
      const some = Array.from({ length: Math.ceil(random() * 20) }, () => random() * 3);
      granted += await grants(some.map((at) => leases[Math.floor(at)]?.take(1) ?? "away"));
    }
    expect(granted).toBeLessThanOrEqual(500);
    expect(granted).toBeGreaterThanOrEqual(416);
  });

  it("if the store is emptied again and again", async () => {
    const random = randomNumbers(7);
    const { url } = await RedisServer.start();
    const store = await connect(url);
    const admin = new Redis(url);
    const leases = [1, 2, 3].map(() => lease(store.buckets, { capacity: 500 }));
    let granted = 0;
    for (let round = 0; round < 150; round++) {
      const some = Array.from({ length: Math.ceil(random() * 20) }, () => random() * 3);
      granted += await grants(some.map((at) => leases[Math.floor(at)]?.take(1) ?? "away"));
      if (round % 10 === 9) await admin.flushall();
    }
    admin.disconnect();
    expect(granted).toBeLessThanOrEqual(500);
    expect(granted).toBeGreaterThanOrEqual(416);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "if the store is emptied while all replicas are busy (%d)",
    async (seed) => {
      const random = randomNumbers(seed);
      const { url } = await RedisServer.start();
      const admin = new Redis(url);
      const replicas = await Promise.all([1, 2, 3].map(() => connect(url)));
      const leases = replicas.map(({ buckets }) => lease(buckets, { capacity: 1000 }));
      let granted = 0;
      let wanted = 1800;
      const emptied = new Set([1, 2, 3].map(() => Math.ceil(random() * wanted)));
      const commands: Promise<unknown>[] = [];
      const client = async (index: number): Promise<void> => {
        while (wanted > 0) {
          if (emptied.has(wanted)) commands.push(admin.flushall());
          wanted -= 1;
          // Some replicas ask seldom, so that what they know of the others is old.
          if (random() < 0.1 * (index % 3)) await setImmediate();
          if ((await leases[index % 3]?.take(1)) === 0) granted += 1;
        }
      };
      await Promise.all(Array.from({ length: 60 }, (_, index) => client(index)));
      await Promise.all(commands);
      admin.disconnect();
      expect(granted).toBeLessThanOrEqual(1000);
      expect(granted).toBeGreaterThanOrEqual(833);
    },
  );
});
