import { type Space, type Store, StoreError } from "./store.ts";

/** Milliseconds for which a read record is used while the store reports changes. Only a report that is lost takes that long. */
const WATCHED_FOR = 10_000;
/** The same if it does not report them: a change must have its effect a second later. */
const UNWATCHED_FOR = 400;
/** Milliseconds for which a known record is valid while the store does not respond. */
const KNOWN_FOR = 300_000;
/** Maximum number of cached records. */
const MAX_CACHED = 100_000;

/** How the records of a space are read. */
export interface RecordReading<Value> {
  readonly space: Space;
  /** Returns what a record means; `text` is `undefined` if it does not exist. */
  readonly read: (id: string, text: string | undefined) => Value;
  /** Whether it is cached. Values that clients can make up must not be. */
  readonly isCached: (value: Value) => boolean;
}

interface CachedRecord<Value> {
  readonly value: Value;
  /** When it was read, in milliseconds of the monotonic clock. */
  readonly at: number;
}

/** Records of a store with a short cache, which changes at other replicas empty. */
export class WatchedRecords<Value> {
  readonly #store: Store;
  readonly #reading: RecordReading<Value>;
  readonly #cached = new Map<string, CachedRecord<Value>>();
  readonly #reads = new Map<string, Promise<Value>>();
  /** Number of reports of changes. */
  #changes = 0;

  constructor(store: Store, reading: RecordReading<Value>) {
    this.#store = store;
    this.#reading = reading;
    store.onChange(reading.space, (id) => this.#forget(id));
  }

  /** Returns a value. Rejects with a StoreError if the store does not respond and the record was not used recently. */
  async find(id: string): Promise<Value> {
    if (this.#store.isLocal) return this.#read(id);
    const cached = this.#cached.get(id);
    const age = cached === undefined ? Number.POSITIVE_INFINITY : performance.now() - cached.at;
    if (cached !== undefined && age < (this.#store.isWatching ? WATCHED_FOR : UNWATCHED_FOR))
      return cached.value;
    try {
      return await this.#readOnce(id);
    } catch (error) {
      if (error instanceof StoreError && cached !== undefined && age < KNOWN_FOR)
        return cached.value;
      throw error;
    }
  }

  /** Requests for the same record at the same time share a read. */
  #readOnce(id: string): Promise<Value> {
    const running = this.#reads.get(id);
    if (running !== undefined) return running;
    const read = this.#readAndCache(id).finally(() => this.#reads.delete(id));
    this.#reads.set(id, read);
    return read;
  }

  async #readAndCache(id: string): Promise<Value> {
    const [changes, at] = [this.#changes, performance.now()];
    const value = await this.#read(id);
    // A record that changed meanwhile is read again by the next request, and only bridges an outage.
    const age = changes === this.#changes ? 0 : WATCHED_FOR;
    if (this.#reading.isCached(value)) this.#keep(id, { value, at: at - age });
    else this.#cached.delete(id);
    return value;
  }

  async #read(id: string): Promise<Value> {
    return this.#reading.read(id, await this.#store.read(this.#reading.space, id));
  }

  #keep(id: string, cached: CachedRecord<Value>): void {
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= MAX_CACHED && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(id, cached);
  }

  /** Forgets a changed record. If reports may have been lost, all are read again, and known ones only bridge an outage. */
  #forget(id: string | undefined): void {
    this.#changes += 1;
    if (id !== undefined) {
      this.#cached.delete(id);
      this.#reads.delete(id);
      return;
    }
    const before = performance.now() - WATCHED_FOR;
    for (const [each, { value, at }] of this.#cached)
      this.#cached.set(each, { value, at: Math.min(at, before) });
  }
}
