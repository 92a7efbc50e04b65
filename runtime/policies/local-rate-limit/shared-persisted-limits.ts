import type { GatewayContext, PersistedMemory } from "../../process/gateway-context.ts";
import { releaseLock } from "../../process/thread-lock.ts";
import {
  type KeyedRateLimit,
  keyedLimit,
  type PersistedKeyedRateLimitSettings,
  type PersistedRateLimitSettings,
  type RateLimit,
} from "../local-rate-limit.ts";
import { type BucketLimit, countsUntil, type LimitBucket } from "./bucket.ts";
import { limitFacts } from "./limit-facts.ts";
import { LimitsFile, persistedKey, type Uses, WRITE_DELAY } from "./limits-file.ts";
import { PersistedUses } from "./persisted-uses.ts";
import { SharedBucket } from "./shared-bucket.ts";
import { DIGEST_BYTES, SharedUses } from "./shared-uses.ts";

/** Opens a limit that all requests on all threads share, across restarts. */
export function openSharedPersistedRateLimit(settings: PersistedRateLimitSettings): RateLimit {
  const limit = new SharedPersistedLimit(settings, 1);
  return { ...limitFacts(settings), bucket: (gateway) => limit.bucket(gateway, "") };
}

/** Opens such a limit with a bucket per caller. */
export function openSharedPersistedKeyedRateLimit(
  settings: PersistedKeyedRateLimitSettings,
): KeyedRateLimit {
  const limit = new SharedPersistedLimit(settings, settings.maxKeys);
  return keyedLimit(settings, persistedKey, (gateway, key) => limit.bucket(gateway, key));
}

class SharedPersistedLimit {
  readonly #name: string;
  readonly #limit: BucketLimit;
  readonly #maxKeys: number;
  #uses: SharedUses | undefined;

  constructor({ name, ...limit }: PersistedRateLimitSettings, maxKeys: number) {
    this.#name = name;
    this.#limit = limit;
    this.#maxKeys = maxKeys;
  }

  bucket(gateway: GatewayContext, key: string): LimitBucket {
    const { threads } = gateway;
    if (threads === undefined)
      return PersistedUses.of(gateway).bucket(this.#name, key, this.#limit, this.#maxKeys);
    this.#uses ??= new SharedUses(
      threads.persistedMemory(this.#name, this.#maxKeys),
      this.#maxKeys,
      threads.index,
    );
    const uses = this.#uses;
    return new SharedBucket(uses, tableDigest(key), this.#limit, (use) => {
      use.until = countsUntil(this.#limit, use);
      uses.change();
    });
  }
}

/** The table of a limit on the main thread. */
interface PersistedTable {
  readonly memory: SharedArrayBuffer;
  readonly uses: SharedUses;
  /** The counter of changes at the last read. */
  changes: number;
}

/** The main thread's number among the threads that lock a table. */
const MAIN_THREAD = 0xffff;

/**
 * Creates the tables of limits that a restart must not reset, in a process with several threads. All threads count in
 * shared tables, and the main thread writes them to the file.
 */
export function persistedTables(gateway: GatewayContext): PersistedMemory {
  return new PersistedTables(gateway);
}

class PersistedTables implements PersistedMemory {
  readonly #file: LimitsFile;
  /** The usage that is written or about to be. */
  readonly #limits: Map<string, Uses>;
  readonly #tables = new Map<string, PersistedTable>();
  #isBehind = false;

  constructor(gateway: GatewayContext) {
    this.#file = new LimitsFile(gateway);
    this.#limits = this.#file.read();
    if (this.#file.isThere) setInterval(() => void this.flush(), WRITE_DELAY).unref();
  }

  memory(name: string, keys: number): SharedArrayBuffer {
    const known = this.#tables.get(name);
    if (known !== undefined) return known.memory;
    const memory = new SharedArrayBuffer(SharedUses.bytes(keys));
    const table = { memory, uses: new SharedUses(memory, keys, MAIN_THREAD), changes: 0 };
    this.#tables.set(name, table);
    this.#fill(name, table);
    return memory;
  }

  threadEnded(thread: number): void {
    for (const [name, table] of this.#tables)
      releaseLock(table.memory, thread, () => this.#fill(name, table));
  }

  flush(): Promise<void> {
    for (const [name, table] of this.#tables) {
      const { uses, changes } = table;
      table.changes = uses.changes;
      if (table.changes === changes) continue;
      this.#limits.set(name, usesOf(uses));
      this.#isBehind = true;
    }
    if (this.#isBehind) {
      this.#isBehind = false;
      void this.#file.write(this.#limits).then((isWritten) => {
        if (!isWritten) this.#isBehind = true;
      });
    }
    return this.#file.written();
  }

  #fill(name: string, table: PersistedTable): void {
    const uses = this.#limits.get(name) ?? new Map();
    table.uses.fill(Array.from(uses, ([key, use]) => ({ digest: tableDigest(key), use })));
    table.changes = table.uses.changes;
  }
}

function usesOf(table: SharedUses): Uses {
  return new Map(table.entries().map(({ digest, use }) => [keyOf(digest), { ...use }]));
}

/** The digest that stands for all callers together. */
const noKey: Buffer = Buffer.alloc(DIGEST_BYTES);

/** Returns the digest in a table for a persisted key. */
function tableDigest(key: string): Buffer {
  return key === "" ? noKey : Buffer.from(key, "base64url");
}

function keyOf(digest: Buffer): string {
  return digest.equals(noKey) ? "" : digest.toString("base64url");
}
