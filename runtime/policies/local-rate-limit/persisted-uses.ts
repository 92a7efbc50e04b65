import type { GatewayContext, PersistedState } from "../../process/gateway-context.ts";
import { Bucket, type BucketLimit, countsUntil } from "./bucket.ts";
import { LimitsFile, type Uses, WRITE_DELAY } from "./limits-file.ts";

/** The usage of limits that a restart must not reset, in memory and in a file; for a process with one thread. */
export class PersistedUses implements PersistedState {
  readonly #limits: Map<string, Uses>;
  readonly #file: LimitsFile;
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;

  private constructor(gateway: GatewayContext) {
    this.#file = new LimitsFile(gateway);
    this.#limits = this.#file.read();
  }

  /** Returns the instance of a process; it outlives a reload of the configuration. */
  static of(gateway: GatewayContext): PersistedUses {
    const known = gateway.persistedStates.get("limits");
    if (known instanceof PersistedUses) return known;
    const opened = new PersistedUses(gateway);
    gateway.persistedStates.set("limits", opened);
    return opened;
  }

  /** Returns the bucket of a key of the limit `name`, of which at most `maxKeys` are remembered. */
  bucket(name: string, key: string, limit: BucketLimit, maxKeys: number): Bucket {
    const uses: Uses = this.#limits.get(name) ?? new Map();
    this.#limits.set(name, uses);
    const use = uses.get(key) ?? { used: 0, since: undefined, until: 0 };
    if (!uses.delete(key) && uses.size >= maxKeys) forgetOne(uses);
    uses.set(key, use);
    return new Bucket(limit, use, () => {
      // It may have been dropped while its call was in flight.
      if (!uses.has(key)) uses.set(key, use);
      use.until = countsUntil(limit, use);
      this.#change();
    });
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#hasChanged) {
      this.#hasChanged = false;
      void this.#file.write(this.#limits).then((isWritten) => isWritten || this.#change());
    }
    return this.#file.written();
  }

  #change(): void {
    if (!this.#file.isThere) return;
    this.#hasChanged = true;
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_DELAY).unref();
  }
}

/**
 * Drops the oldest key whose usage no longer counts, so that invented keys do not displace others; otherwise the oldest
 * one.
 */
function forgetOne(uses: Uses): void {
  const now = Date.now();
  const idle = uses.entries().find(([, { until }]) => until <= now);
  const [key] = idle ?? uses.entries().next().value ?? [];
  if (key !== undefined) uses.delete(key);
}
