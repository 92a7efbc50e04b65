import { type Indexed, SwapSet } from "./deadlines.ts";

/** A body that is being gathered. */
export interface GatheredBody {
  /** The bytes that are there. */
  readonly length: number;
}

/** Milliseconds that a body may take before its rate counts. */
const GRACE = 5000;
/** Milliseconds between two looks. */
const INTERVAL = 1000;

/** A body, and what is known of it. */
interface Watched extends Indexed {
  readonly body: GatheredBody;
  readonly minRate: number;
  readonly tooSlow: () => void;
  /** Looks at it so far. */
  looks: number;
}

/** Watches how fast the bodies of a process come: one timer for all, as most are there before anybody looks. */
export class BodyRates {
  readonly #watched = new SwapSet<Watched>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Calls `tooSlow`, once, when a body comes with fewer than `minRate` bytes per second from its start (0: any rate will
   * do). The function that is returned ends the watch.
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
      // The first look may come at once.
      if (watched.looks++ * INTERVAL < GRACE || !isSlow(watched)) return;
      // A process that was busy reads first what has come meanwhile.
      setImmediate(() => {
        if (this.#watched.has(watched) && isSlow(watched)) watched.tooSlow();
      });
    });
  }
}

function isSlow({ body, minRate, looks }: Watched): boolean {
  return body.length < (minRate * (looks - 1) * INTERVAL) / 1000;
}
