/** Share of the controller's main thread in which the data of one namespace is read. */
const SHARE = 0.1;
/** Milliseconds that a namespace may use at once after a quiet time: reading the largest Secret takes about 200. */
const BURST = 500;
/** The most that a namespace owes: the first list may have taken long. */
const MAX_DEBT = 6_000;

/** Remaining milliseconds of a namespace at a moment, in milliseconds of `performance.now()`. */
interface Remainder {
  readonly time: number;
  readonly at: number;
}

/**
 * Decides when changed Secrets and ConfigMaps are read. Certificates and keys in them are parsed in the thread that delivers
 * changes, so a tenant who changes large ones all the time would hold up everybody.
 */
export class ReadingTurns {
  /** Of namespaces that have used some of their time. */
  readonly #remainders: Map<string, Remainder> = new Map();

  /** Returns how many milliseconds the next change of a namespace waits. */
  delayOf(namespace: string, now: number): number {
    const remaining = this.#remaining(namespace, now);
    return remaining > 0 ? 0 : Math.ceil(-remaining / SHARE) + 1;
  }

  /** A change of a namespace took so many milliseconds of the processor. */
  charge(namespace: string, took: number, now: number): void {
    const time = Math.max(-MAX_DEBT, this.#remaining(namespace, now) - took);
    this.#remainders.set(namespace, { time, at: now });
  }

  #remaining(namespace: string, now: number): number {
    const { time, at } = this.#remainders.get(namespace) ?? { time: BURST, at: now };
    const remaining = Math.min(BURST, time + (now - at) * SHARE);
    if (remaining === BURST) this.#remainders.delete(namespace);
    return remaining;
  }
}
