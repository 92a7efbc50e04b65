import { type Store, StoreError } from "./store.ts";
import { readStoredKey, type StoredKey } from "./stored-key.ts";

/** Milliseconds for which a read key is used while the store reports changes. Only a report that is lost takes that long. */
const WATCHED_FOR = 10_000;
/** The same if it does not report them: a revoked key must not pass a second later. */
const UNWATCHED_FOR = 400;
/** Milliseconds for which a known key is valid while the store does not respond. */
const KNOWN_FOR = 300_000;
/** Maximum number of cached keys. */
const MAX_CACHED = 100_000;

interface CachedKey {
  readonly key: StoredKey;
  /** When it was read, in milliseconds of the monotonic clock. */
  readonly at: number;
}

/** Instances of stores: routes of one gateway share what they read. */
const instances = new WeakMap<Store, StoredKeys>();

/** Finds keys of a store by their digests, with a short cache. Unknown keys are not cached, so that nobody can fill it. */
export class StoredKeys {
  readonly #store: Store;
  readonly #warn: (message: string) => void;
  readonly #cached = new Map<string, CachedKey>();
  readonly #reads = new Map<string, Promise<StoredKey | undefined>>();
  /** Number of reports of changes. */
  #changes = 0;
  #hasWarned = false;

  private constructor(store: Store, warn: (message: string) => void) {
    this.#store = store;
    this.#warn = warn;
    store.onChange("keys", (digest) => this.#forget(digest));
  }

  /** Returns the instance for a store. */
  static of(store: Store, warn: (message: string) => void): StoredKeys {
    const known = instances.get(store);
    if (known !== undefined) return known;
    const made = new StoredKeys(store, warn);
    instances.set(store, made);
    return made;
  }

  /**
   * Returns the key of a digest; `undefined` if it is unknown, revoked or expired. Rejects with a StoreError if the store does
   * not respond and the key was not used recently.
   */
  async find(digest: string): Promise<StoredKey | undefined> {
    const key = await this.#key(digest);
    return key?.expires !== undefined && key.expires <= Date.now() ? undefined : key;
  }

  async #key(digest: string): Promise<StoredKey | undefined> {
    if (this.#store.isLocal) return this.#read(digest);
    const cached = this.#cached.get(digest);
    const age = cached === undefined ? Number.POSITIVE_INFINITY : performance.now() - cached.at;
    if (age < (this.#store.isWatching ? WATCHED_FOR : UNWATCHED_FOR)) return cached?.key;
    try {
      return await this.#readOnce(digest);
    } catch (error) {
      if (error instanceof StoreError && age < KNOWN_FOR) return cached?.key;
      throw error;
    }
  }

  /** Requests with the same key at the same time share a read. */
  #readOnce(digest: string): Promise<StoredKey | undefined> {
    const running = this.#reads.get(digest);
    if (running !== undefined) return running;
    const read = this.#readAndCache(digest).finally(() => this.#reads.delete(digest));
    this.#reads.set(digest, read);
    return read;
  }

  async #readAndCache(digest: string): Promise<StoredKey | undefined> {
    const [changes, at] = [this.#changes, performance.now()];
    const key = await this.#read(digest);
    // A key that changed meanwhile is read again by the next request, and only bridges an outage.
    const age = changes === this.#changes ? 0 : WATCHED_FOR;
    if (key === undefined) this.#cached.delete(digest);
    else this.#keep(digest, { key, at: at - age });
    return key;
  }

  async #read(digest: string): Promise<StoredKey | undefined> {
    const text = await this.#store.read("keys", digest);
    if (text === undefined) return undefined;
    try {
      return readStoredKey(digest, text);
    } catch (error) {
      this.#warnOnce(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #keep(digest: string, cached: CachedKey): void {
    const [oldest] = this.#cached.keys();
    if (this.#cached.size >= MAX_CACHED && oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(digest, cached);
  }

  /** Forgets a changed key. If reports may have been lost, all keys are read again, and known ones only bridge an outage. */
  #forget(digest: string | undefined): void {
    this.#changes += 1;
    if (digest !== undefined) {
      this.#cached.delete(digest);
      this.#reads.delete(digest);
      return;
    }
    const before = performance.now() - WATCHED_FOR;
    for (const [each, { key, at }] of this.#cached)
      this.#cached.set(each, { key, at: Math.min(at, before) });
  }

  #warnOnce(problem: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(`a record of the store is no API key, and admits nobody: ${problem}`);
  }
}
