import type { Buckets } from "./buckets.ts";
import type { Channels } from "./channels.ts";
import type { StoredResponses } from "./responses.ts";
import type { PeriodUsage, UsageBatch, UsageSelection } from "./usage.ts";

/**
 * State that outlives a process: in a file of GWC_STATE_DIR (`embedded-store.ts`), or in Redis or Valkey, where all replicas share
 * it (`redis-store.ts`). Methods reject with a StoreError if the store does not respond.
 */
export interface Store {
  /** Whether reads take microseconds, so that nothing needs to be cached. */
  readonly isLocal: boolean;
  /** Whether changes by other processes are reported as they happen; otherwise values have to be read again. */
  readonly isWatching: boolean;
  /** Returns the value of a record; `undefined` if it does not exist or has expired. */
  read(space: Space, id: string): Promise<string | undefined>;
  /** Returns all records of a space, by id. */
  list(space: Space): Promise<ReadonlyMap<string, string>>;
  /** Replaces, creates or deletes a record in one step. Returns false, and changes nothing, if its value is not `was`. */
  replace(space: Space, id: string, change: RecordChange): Promise<boolean>;
  /**
   * Adds to counters in one step. Returns what is left of each; if one with a limit has too little left, adds nothing and
   * returns the refusal.
   */
  add(counts: readonly CounterUse[]): Promise<CountResult>;
  /** Adds usage of models, once for each batch. */
  addUsage(batch: UsageBatch): Promise<void>;
  /** Shows the selected usage, in any order. */
  readUsage(selection: UsageSelection, each: (usage: PeriodUsage) => void): Promise<void>;
  /**
   * Calls the listener with the id of a changed record, or with `undefined` if changes may have been missed. The returned
   * function unsubscribes.
   */
  onChange(space: Space, listener: (id: string | undefined) => void): () => void;
  /** Buckets that replicas share; `undefined` if the store belongs to one machine. */
  readonly buckets: Buckets | undefined;
  /** Responses that replicas share; `undefined` if the store belongs to one machine. */
  readonly responses: StoredResponses | undefined;
  /** Channels between replicas; `undefined` if the store belongs to one machine. */
  readonly channels: Channels | undefined;
  /** Closes files and connections; later calls reject. */
  close(): Promise<void>;
}

/** Kinds of records. A space has no ":" in its name, so that ids of one are never those of another. */
export type Space =
  | "keys"
  | "key-names"
  | "ended-logins"
  | "ended-mcp-sessions"
  | "mcp-session-states"
  | "used-logins"
  | "login-renewals"
  | "user-grants"
  | "grant-renewals"
  | "used-authorizations"
  | "oauth-clients"
  | "charged-results"
  | "acme-accounts"
  | "acme-certificates"
  | "acme-orders"
  | "acme-challenges";

/** A change of a record. */
export interface RecordChange {
  /** Its value before the change; `undefined` if it must not exist. */
  readonly was: string | undefined;
  /** Its value from now on; `undefined` deletes it. */
  readonly value: string | undefined;
  /** When it expires, in milliseconds since the epoch; `undefined` if never. */
  readonly expires?: number | undefined;
}

/** Amount to add to a counter of the current period. */
export interface CounterUse {
  /** Name of the counter; counters of one request begin with the same word and ":". */
  readonly id: string;
  readonly period: Period;
  /** May be negative, to give back. */
  readonly amount: number;
  /** Maximum of the counter; `undefined` counts in any case. */
  readonly limit?: number | undefined;
}

/** Periods of counters, which begin in UTC by the clock of the store. */
export type Period = "second" | "minute" | "hour" | "day" | "month";

/** Result of adding to counters. */
export type CountResult =
  | { readonly isGranted: true; readonly used: readonly number[] }
  | {
      readonly isGranted: false;
      /** Index of the counter that has too little left. */
      readonly refused: number;
      /** Milliseconds until its next period. */
      readonly resetsIn: number;
    };

/** The store does not respond, or refuses the command. The message has no secret and is for the operator. */
export class StoreError extends Error {
  override readonly name = "StoreError";
}

/** Resolves to the result; `undefined` if the store does not respond. */
export async function unlessAway<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
