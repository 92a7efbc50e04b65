import { join } from "node:path";
import { Metrics } from "../../runtime/metrics/metrics.ts";
import { openEmbeddedStore } from "../../runtime/store/embedded-store.ts";
import { openRedis } from "../../runtime/store/redis-store.ts";
import type { Store } from "../../runtime/store/store.ts";
import { NANOS } from "../../runtime/store/usage.ts";
import { reportUsage } from "../../runtime/store/usage-report.ts";
import { isInstalled } from "../harness/tool.ts";
import { startBenchStore } from "./limits.ts";

/** Maximum seconds of a report of a year. */
export const YEAR_REPORT = 1;

const KEYS = 10_000;
const TEAMS = 50;
const YEAR = 2025;
/** Columns of the measured reports. */
const REPORTS = [["key"], ["team", "model"], ["month", "team"]] as const;

/** Seconds of a report of a year, one value for each round. */
export interface ReportCost {
  readonly by: string;
  readonly embedded: readonly number[];
  /** Absent if there is no Redis. */
  readonly redis?: readonly number[];
}

/**
 * Measures reports of a year in which each of 10,000 keys was used in every month, from a file and from Redis. A report of whole
 * months reads their sums, so days are not written.
 */
export async function measureUsage(folder: string, rounds: number): Promise<readonly ReportCost[]> {
  const embedded = openEmbeddedStore(join(folder, "usage.db"));
  const redis = isInstalled("redis-server") ? await openBenchStore() : undefined;
  const stores = redis === undefined ? [embedded] : [embedded, redis.store];
  for (const store of stores) await fill(store);
  const costs: ReportCost[] = [];
  for (const by of REPORTS) {
    const found = stores.map((): number[] => []);
    for (let round = 0; round < rounds; round++)
      for (const [at, store] of stores.entries()) found[at]?.push(await secondsOf(store, by));
    const [ofEmbedded = [], ofRedis] = found;
    costs.push({ by: by.join(), embedded: ofEmbedded, ...(ofRedis && { redis: ofRedis }) });
  }
  await embedded.close();
  await redis?.stop();
  return costs;
}

async function fill(store: Store): Promise<void> {
  const rows = Array.from({ length: KEYS }, (_, key) => {
    const detail = JSON.stringify([key % 2 ? "fast" : "best", { team: `t${key % TEAMS}` }]);
    const counts = { requests: 5, inputTokens: 100, outputTokens: 50, cost: NANOS, unpriced: 0 };
    return { caller: JSON.stringify(["key", `k${key}`]), detail, counts };
  });
  for (let month = 1; month <= 12; month++) {
    const day = `${YEAR}-${String(month).padStart(2, "0")}-01`;
    // Longer than the time since then, so that nothing is deleted.
    await store.addUsage({ writer: "bench", sequence: month, day, keptDays: 10_000, rows });
  }
}

async function secondsOf(store: Store, by: readonly string[]): Promise<number> {
  const start = performance.now();
  await reportUsage(store, { since: `${YEAR}-01-01`, until: `${YEAR}-12-31`, by });
  return (performance.now() - start) / 1000;
}

async function openBenchStore() {
  const server = await startBenchStore();
  const reports = { warn: () => {}, metrics: new Metrics() };
  const store = await openRedis({ url: server.url, prefix: "bench:" }, reports);
  const stop = async () => {
    await store.close();
    server.stop();
  };
  return { store, stop };
}
