import { Instances } from "./instances.ts";
import type { Store } from "./store.ts";
import { readStoredKey, type StoredKey } from "./stored-key.ts";
import { WatchedRecords } from "./watched-records.ts";

const instances = new Instances<Store, StoredKeys>();

/** Finds keys of a store by their digests, with a short cache. Unknown keys are not cached, so that nobody can fill it. */
export class StoredKeys {
  readonly #records: WatchedRecords<StoredKey | undefined>;
  readonly #warn: (message: string) => void;
  #hasWarned = false;

  private constructor(store: Store, warn: (message: string) => void) {
    this.#warn = warn;
    this.#records = new WatchedRecords(store, {
      space: "keys",
      read: (digest, text) => this.#read(digest, text),
      isCached: (key) => key !== undefined,
    });
  }

  /** Returns the instance for a store. */
  static of(store: Store, warn: (message: string) => void): StoredKeys {
    return instances.of(store, () => new StoredKeys(store, warn));
  }

  /**
   * Returns the key of a digest; `undefined` if it is unknown, revoked or expired. Rejects with a StoreError if the store does
   * not respond and the key was not used recently.
   */
  async find(digest: string): Promise<StoredKey | undefined> {
    const key = await this.#records.find(digest);
    return key?.expires !== undefined && key.expires <= Date.now() ? undefined : key;
  }

  #read(digest: string, text: string | undefined): StoredKey | undefined {
    if (text === undefined) return undefined;
    try {
      return readStoredKey(digest, text);
    } catch (error) {
      this.#warnOnce(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #warnOnce(problem: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#warn(`a record of the store is no API key, and admits nobody: ${problem}`);
  }
}
