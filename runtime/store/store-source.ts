import type { Metrics } from "../metrics/metrics.ts";
import type { Store } from "./store.ts";

/** The store of a gateway as configured, which the process opens when it starts. */
export interface StoreSource {
  /** Equal for two configurations with the same store, which stays open then. Never logged: it may have a password. */
  readonly identity: string;
  /** Checks without opening. Throws a StoreError that says why the store cannot be used. */
  check(place: StorePlace): void;
  /**
   * Opens the store; resolves to `undefined` if the gateway was started without one. Throws a StoreError if it can never be used; a
   * store that only does not respond is opened.
   */
  open(place: StorePlace): Promise<Store | undefined>;
}

/** The process that opens a store. */
export interface StorePlace {
  /** Directory of state that survives a restart; `undefined` if there is none. */
  readonly stateDir: string | undefined;
  /** Name of the gateway. */
  readonly gateway: string;
  readonly warn: (message: string) => void;
  readonly metrics: Metrics;
}
