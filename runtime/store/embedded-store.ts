import type { DatabaseSync, StatementSync } from "node:sqlite";
import { databaseFile, openDatabase } from "./embedded-database.ts";
import { periodAt } from "./periods.ts";
import {
  type CounterUse,
  type CountResult,
  type RecordChange,
  type Space,
  type Store,
  StoreError,
} from "./store.ts";
import type { StorePlace, StoreSource } from "./store-source.ts";
import {
  DAY,
  dayOf,
  monthOf,
  NO_USAGE,
  type PeriodUsage,
  sumOfUsage,
  type UsageBatch,
  type UsageSelection,
} from "./usage.ts";

/** The store of a gateway without `config.store`: a file in GWC_STATE_DIR, which the processes of one machine share. */
export const embeddedStore: StoreSource = {
  identity: "embedded",
  check: fileOf,
  open: async (place) => openEmbeddedStore(fileOf(place)),
};

function fileOf({ stateDir, gateway }: StorePlace): string {
  if (stateDir !== undefined) return databaseFile(stateDir, gateway);
  throw new StoreError(
    "API keys that are made at run time, usage and ACME certificates need a place: set GWC_STATE_DIR to a folder, or configure config.store.redis",
  );
}

const TABLES = `
CREATE TABLE IF NOT EXISTS records (
  space TEXT, id TEXT, value TEXT NOT NULL, expires REAL, PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (
  id TEXT, period TEXT, start REAL, used REAL NOT NULL, PRIMARY KEY (id, period)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
  period TEXT, caller TEXT, detail TEXT, requests INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
  cost INTEGER NOT NULL, unpriced INTEGER NOT NULL, PRIMARY KEY (period, caller, detail)
) WITHOUT ROWID;
`;

/** Caller of rows with the sums of all callers, which are read faster than theirs. */
const EVERYBODY = "";

/** Milliseconds after whose end no period of a counter lasts. */
const MAX_PERIOD = 32 * 86_400_000;

/** Opens the store in a file. Throws a StoreError if the file cannot be used. */
export function openEmbeddedStore(file: string): Store {
  try {
    return new EmbeddedStore(openDatabase(file));
  } catch (error) {
    throw storeError(error);
  }
}

class EmbeddedStore implements Store {
  readonly isLocal = true;
  readonly isWatching = false;
  readonly buckets = undefined;
  readonly responses = undefined;
  readonly channels = undefined;
  readonly #database: DatabaseSync;
  readonly #read: StatementSync;
  readonly #list: StatementSync;
  readonly #write: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteExpired: StatementSync;
  readonly #readCount: StatementSync;
  readonly #writeCount: StatementSync;
  readonly #addUsage: StatementSync;
  readonly #deleteUsage: StatementSync;
  /** Day on which old usage was deleted. */
  #cleaned = "";

  constructor(database: DatabaseSync) {
    database.exec(TABLES);
    database.prepare("DELETE FROM counters WHERE start < ?").run(Date.now() - MAX_PERIOD);
    this.#database = database;
    const current = "(expires IS NULL OR expires > ?)";
    this.#read = database.prepare(
      `SELECT value FROM records WHERE space = ? AND id = ? AND ${current}`,
    );
    this.#list = database.prepare(
      `SELECT id, value FROM records WHERE space = ? AND ${current} ORDER BY id`,
    );
    this.#write = database.prepare("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)");
    this.#delete = database.prepare("DELETE FROM records WHERE space = ? AND id = ?");
    this.#deleteExpired = database.prepare("DELETE FROM records WHERE expires <= ?");
    this.#readCount = database.prepare(
      "SELECT used FROM counters WHERE id = ? AND period = ? AND start >= ?",
    );
    this.#writeCount = database.prepare("INSERT OR REPLACE INTO counters VALUES (?, ?, ?, ?)");
    this.#addUsage = database.prepare(
      `INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
        requests = requests + excluded.requests, input = input + excluded.input, output = output + excluded.output,
        cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced`,
    );
    this.#deleteUsage = database.prepare(
      "DELETE FROM usage WHERE period < ? AND period < substr(?, 1, length(period))",
    );
  }

  async read(space: Space, id: string): Promise<string | undefined> {
    return attempt(() => this.#value(space, id));
  }

  async list(space: Space): Promise<ReadonlyMap<string, string>> {
    return attempt(() => {
      const rows = this.#list.all(space, Date.now());
      return new Map(rows.map(({ id, value }) => [String(id), String(value)]));
    });
  }

  async replace(space: Space, id: string, { was, value, expires }: RecordChange): Promise<boolean> {
    return this.#atOnce(() => {
      if (this.#value(space, id) !== was) return false;
      if (value === undefined) this.#delete.run(space, id);
      else this.#write.run(space, id, value, expires ?? null);
      this.#deleteExpired.run(Date.now());
      return true;
    });
  }

  async add(counts: readonly CounterUse[]): Promise<CountResult> {
    return this.#atOnce((): CountResult => {
      const now = Date.now();
      const sums: { readonly start: number; readonly used: number }[] = [];
      for (const [index, { id, period, amount, limit }] of counts.entries()) {
        const { start, end } = periodAt(period, now);
        const before = Number(this.#readCount.get(id, period, start)?.used ?? 0);
        if (limit !== undefined && (before >= limit || before + amount > limit))
          return { isGranted: false, refused: index, resetsIn: end - now };
        sums.push({ start, used: Math.max(0, before + amount) });
      }
      for (const [index, { id, period }] of counts.entries()) {
        const { start = 0, used = 0 } = sums[index] ?? {};
        this.#writeCount.run(id, period, start, used);
      }
      return { isGranted: true, used: sums.map(({ used }) => used) };
    });
  }

  async addUsage({ day, rows, keptDays }: UsageBatch): Promise<void> {
    this.#atOnce(() => {
      const sums = Array.from(
        Map.groupBy(rows, ({ detail }) => detail),
        ([detail, own]) => ({
          ...{ caller: EVERYBODY, detail },
          counts: own.reduce((sum, { counts }) => sumOfUsage(sum, counts), NO_USAGE),
        }),
      );
      for (const { caller, detail, counts } of [...rows, ...sums]) {
        const { requests, inputTokens, outputTokens, cost, unpriced } = counts;
        for (const period of [day, monthOf(day)])
          this.#addUsage.run(
            ...[period, caller, detail, requests, inputTokens, outputTokens, cost, unpriced],
          );
      }
      if (this.#cleaned === day) return;
      const oldest = dayOf(Date.parse(day) - keptDays * DAY);
      this.#deleteUsage.run(oldest, oldest);
      this.#cleaned = day;
    });
  }

  async readUsage(
    { periods, caller, isByCaller, isByPeriod }: UsageSelection,
    each: (usage: PeriodUsage) => void,
  ): Promise<void> {
    attempt(() => {
      // Sums of many rows are read faster than the rows.
      const columns = [isByPeriod ? "period" : "''", isByCaller ? "caller" : "''", "detail"];
      const amounts = ["requests", "input", "output", "cost", "unpriced"];
      const isOfAll = caller === undefined && isByCaller;
      const query = this.#database.prepare(
        `SELECT ${columns}, ${amounts.map((amount) => `sum(${amount})`)}
        FROM usage WHERE period IN (${periods.map(() => "?")}) AND caller ${isOfAll ? "!=" : "="} ?
        GROUP BY ${columns}`,
      );
      query.setReturnArrays(true);
      const values = [...periods, caller ?? EVERYBODY];
      for (const row of query.iterate(...values)) each(usageOf(Object.values(row)));
    });
  }

  onChange(): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close();
  }

  #value(space: Space, id: string): string | undefined {
    const value = this.#read.get(space, id, Date.now())?.value;
    return value === undefined ? undefined : String(value);
  }

  /** Runs a change that no other process sees half of. */
  #atOnce<Result>(change: () => Result): Result {
    return attempt(() => {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        const result = change();
        this.#database.exec("COMMIT");
        return result;
      } catch (error) {
        this.#database.exec("ROLLBACK");
        throw error;
      }
    });
  }
}

function usageOf([period, caller, detail, ...amounts]: readonly unknown[]): PeriodUsage {
  const [requests = 0, inputTokens = 0, outputTokens = 0, cost = 0, unpriced = 0] =
    amounts.map(Number);
  return {
    ...{ period: String(period), caller: String(caller), detail: String(detail) },
    counts: { requests, inputTokens, outputTokens, cost, unpriced },
  };
}

function attempt<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeError(error);
  }
}

function storeError(error: unknown): StoreError {
  return new StoreError(error instanceof Error ? error.message : String(error));
}
