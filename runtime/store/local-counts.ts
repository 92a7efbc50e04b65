import { periodAt } from "./periods.ts";
import type { CounterUse, CountResult } from "./store.ts";

interface Count {
  readonly use: CounterUse;
  readonly start: number;
  used: number;
}

/** Maximum number of counters. */
const MAX_COUNTS = 100_000;

/** Counters of one process, from 0, for as long as the store does not respond. */
export class LocalCounts {
  readonly #counts = new Map<string, Count>();

  /** Adds to counters in one step, unless one would exceed its limit. */
  add(uses: readonly CounterUse[]): CountResult {
    const now = Date.now();
    for (const [index, use] of uses.entries()) {
      const { limit, amount } = use;
      const used = this.#current(use, now)?.used ?? 0;
      if (limit !== undefined && (used >= limit || used + amount > limit))
        return { isGranted: false, refused: index, resetsIn: periodAt(use.period, now).end - now };
    }
    return { isGranted: true, used: uses.map((use) => this.charge(use)) };
  }

  /** Adds to a counter in any case. Returns what is used of it. */
  charge(use: CounterUse): number {
    const now = Date.now();
    const known = this.#current(use, now);
    const count = known ?? { use, start: periodAt(use.period, now).start, used: 0 };
    count.used = Math.max(0, count.used + use.amount);
    if (known === undefined && this.#counts.size < MAX_COUNTS) this.#counts.set(nameOf(use), count);
    return count.used;
  }

  /** Removes and returns what was counted in current periods. */
  take(): readonly CounterUse[] {
    if (this.#counts.size === 0) return [];
    const now = Date.now();
    const counts = Array.from(this.#counts.values());
    this.#counts.clear();
    return counts
      .filter(({ use, start, used }) => start === periodAt(use.period, now).start && used > 0)
      .map(({ use: { id, period }, used }) => ({ id, period, amount: used }));
  }

  #current(use: CounterUse, now: number): Count | undefined {
    const count = this.#counts.get(nameOf(use));
    return count?.start === periodAt(use.period, now).start ? count : undefined;
  }
}

function nameOf({ id, period }: CounterUse): string {
  return `${id} ${period}`;
}
