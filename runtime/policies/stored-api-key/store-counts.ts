import type { LlmCall } from "../../cel/variables.ts";
import { Instances } from "../../store/instances.ts";
import { LocalCounts } from "../../store/local-counts.ts";
import { type CounterUse, type CountResult, type Store, StoreError } from "../../store/store.ts";
import type { CountedUnit } from "../../store/stored-key.ts";

const instances = new Instances<Store, StoreCounts>();

/** Maximum number of models without a price that are logged. */
const MAX_UNCOUNTED = 100;

/**
 * Counters of a store. While it does not respond, this process counts alone, from 0, and adds its counts once the store is back.
 */
export class StoreCounts {
  readonly #store: Store;
  readonly #warn: (message: string) => void;
  readonly #local = new LocalCounts();
  readonly #uncounted = new Set<string>();

  private constructor(store: Store, warn: (message: string) => void) {
    this.#store = store;
    this.#warn = warn;
  }

  /** Returns the instance for a store. */
  static of(store: Store, warn: (message: string) => void): StoreCounts {
    return instances.of(store, () => new StoreCounts(store, warn));
  }

  /** Adds to counters unless one exceeds its limit. Never rejects because of the store. */
  async add(uses: readonly CounterUse[]): Promise<CountResult> {
    try {
      await this.#reconcile();
      return await this.#store.add(uses);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return this.#local.add(uses);
    }
  }

  /** Adds what was used, in the background. */
  charge(uses: readonly CounterUse[]): void {
    void this.add(uses);
  }

  /** Warns once per model that a call could not be counted. Clients choose the names, so their number is limited. */
  warnUncounted(unit: CountedUnit, { requestModel = "" }: LlmCall, route = "unknown"): void {
    const name = JSON.stringify(requestModel.slice(0, 64));
    if (this.#uncounted.has(name) || this.#uncounted.size >= MAX_UNCOUNTED) return;
    this.#uncounted.add(name);
    this.#warn(
      `did not count a call of ${name} on route ${route} for its API key: no ${unit} known`,
    );
  }

  /** Adds what was counted during an outage. A part that the store does not take stays for the next time. */
  async #reconcile(): Promise<void> {
    for (const use of this.#local.take()) {
      try {
        await this.#store.add([use]);
      } catch (error) {
        this.#local.charge(use);
        throw error;
      }
    }
  }
}
