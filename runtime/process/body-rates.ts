import { type Indexed, SwapSet } from "../time/deadlines.ts";

/** A body that is being received into memory. */
export interface GatheredBody {
  /** Number of bytes received so far. */
  readonly length: number;
}

/** Milliseconds before the rate of a body counts. */
const GRACE = 5000;
/** Milliseconds between two checks. */
const INTERVAL = 1000;

/** A body with its limit. */
interface Watched extends Indexed {
  readonly body: GatheredBody;
  readonly minRate: number;
  readonly tooSlow: () => void;
  /** Number of checks so far. */
  looks: number;
}

/**
 * Finds bodies that arrive too slowly. One timer serves the whole process, as most bodies are complete before the first check.
 */
export class BodyRates {
  readonly #watched = new SwapSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Calls `tooSlow` once if a body arrives with fewer than `minRate` bytes per second since its start (0: no limit). The
   * returned function ends the watch.
   */
  watch(body: GatheredBody, minRate: number, tooSlow: () => void): () => void {
    if (minRate === 0) return () => {};
    const watched = { place: 0, body, minRate, tooSlow, looks: 0 };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL).unref();
    return () => this.#watched.delete(watched);
  }

  #look(): void {
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#watched.visit((watched) => {
      // The first check may come right after the start.
      if (watched.looks++ * INTERVAL < GRACE || !isSlow(watched)) return;
      // A busy process first reads what has arrived meanwhile.
      setImmediate(() => {
        if (this.#watched.has(watched) && isSlow(watched)) watched.tooSlow();
      });
    });
  }
}

function isSlow({ body, minRate, looks }: Watched): boolean {
  return body.length < (minRate * (looks - 1) * INTERVAL) / 1000;
}
