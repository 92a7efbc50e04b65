import { randomBytes } from "node:crypto";
import type { GatewayContext, PersistedState } from "../process/gateway-context.ts";
import { Instances } from "../store/instances.ts";
import { type Store, StoreError } from "../store/store.ts";
import {
  dayOf,
  detailId,
  sumOfUsage,
  type UsageBatch,
  type UsageCounts,
  type UsageDetail,
} from "../store/usage.ts";

/** Milliseconds between a call and its place in the store. Without a drain (kill -9), the usage of that time is lost. */
const INTERVAL = 1000;
/** Maximum number of rows of a batch. */
const MAX_ROWS = 1000;
/** Maximum number of rows that wait for a store that is away; further ones count as those of nobody and any model. */
const MAX_WAITING = 50_000;

const OTHER = {
  caller: JSON.stringify(["none", "other"]),
  detail: detailId({ model: "other", attributes: {} }),
};

/** Rows of a day, by caller and detail. */
type DayRows = Map<string, { caller: string; detail: string; counts: UsageCounts }>;

const instances = new Instances<Store, UsageWriter>();

/**
 * Collects usage and adds it to the store in batches, off the path of requests. A batch whose fate is unknown is sent again with
 * its number, so that the store never adds it twice.
 */
export class UsageWriter implements PersistedState {
  readonly #store: Store;
  readonly #warn: (message: string) => void;
  readonly #writer = randomBytes(8).toString("hex");
  readonly #days = new Map<string, DayRows>();
  /** Batches in the order of their numbers. */
  readonly #batches: UsageBatch[] = [];
  #sequence = 0;
  #waiting = 0;
  #keptDays = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isWarned = false;

  private constructor(store: Store, warn: (message: string) => void) {
    this.#store = store;
    this.#warn = warn;
  }

  /** Returns the writer of a gateway; `undefined` without a store. */
  static of({ store, warn, persistedStates }: GatewayContext): UsageWriter | undefined {
    if (store === undefined) return undefined;
    return instances.of(store, () => {
      const made = new UsageWriter(store, warn);
      persistedStates.set("usage", made);
      return made;
    });
  }

  /** Adds the usage of a call that ends now. `keptDays`: days for which it is stored. */
  add(caller: string, detail: UsageDetail, counts: UsageCounts, keptDays: number): void {
    this.#keptDays = keptDays;
    const day = dayOf(Date.now());
    const rows: DayRows = this.#days.get(day) ?? new Map();
    this.#days.set(day, rows);
    this.#addTo(rows, { caller, detail: detailId(detail) }, counts);
    this.#schedule();
  }

  /** Writes what has been collected. Warns if the store does not take it. */
  async flush(): Promise<void> {
    await this.#send();
    if (this.#waiting + this.#batches.length > 0)
      this.#warn("usage of models was not stored, because the store does not respond");
  }

  #addTo(rows: DayRows, row: Pick<typeof OTHER, "caller" | "detail">, counts: UsageCounts): void {
    const id = `${row.caller}\n${row.detail}`;
    const known = rows.get(id);
    if (known !== undefined) {
      known.counts = sumOfUsage(known.counts, counts);
      return;
    }
    if (this.#waiting >= MAX_WAITING && row !== OTHER) {
      this.#addTo(rows, OTHER, counts);
      return;
    }
    rows.set(id, { ...row, counts });
    this.#waiting += 1;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, INTERVAL).unref();
  }

  /** Sends all batches, one after the other; stops at the first that fails. */
  async #send(): Promise<void> {
    await this.#sending;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // While earlier batches wait, calls are added to rows instead of making more batches.
    if (this.#batches.length === 0) this.#collect();
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      try {
        await this.#store.addUsage(batch);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        this.#problem(error.message);
        this.#schedule();
        return;
      }
      this.#batches.shift();
    }
    this.#isWarned = false;
    if (this.#waiting > 0) this.#schedule();
  }

  #collect(): void {
    for (const [day, rows] of this.#days) {
      const all = Array.from(rows.values());
      for (let from = 0; from < all.length; from += MAX_ROWS) {
        this.#sequence += 1;
        this.#batches.push({
          ...{ writer: this.#writer, sequence: this.#sequence, day },
          rows: all.slice(from, from + MAX_ROWS),
          keptDays: this.#keptDays,
        });
      }
    }
    this.#days.clear();
    this.#waiting = 0;
  }

  /** Warns once per outage. */
  #problem(reason: string): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    this.#warn(`usage of models waits for the store: ${reason}`);
  }
}
