import { Latencies } from "./latencies.ts";

/** A finished request, as it is counted. */
export interface FiguredRequest {
  /** `undefined` if the client left without a response. */
  readonly status: number | undefined;
  /** Milliseconds; `undefined` for streams, which last as long as their clients listen. */
  readonly latency: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In US dollars. */
  readonly cost: number;
}

/** Sums over requests. */
export class FigureSums {
  requests = 0;
  /** Requests with a status from 400 to 499. */
  rejected = 0;
  /** Requests with a status from 500 up. */
  failed = 0;
  inputTokens = 0;
  outputTokens = 0;
  cost = 0;
  readonly latencies = new Latencies();

  add({ status = 0, latency, inputTokens, outputTokens, cost }: FiguredRequest): void {
    this.requests += 1;
    if (status >= 500) this.failed += 1;
    else if (status >= 400) this.rejected += 1;
    if (latency !== undefined) this.latencies.add(latency);
    this.inputTokens += inputTokens;
    this.outputTokens += outputTokens;
    this.cost += cost;
  }

  addAll(other: FigureSums): void {
    this.requests += other.requests;
    this.rejected += other.rejected;
    this.failed += other.failed;
    this.inputTokens += other.inputTokens;
    this.outputTokens += other.outputTokens;
    this.cost += other.cost;
    this.latencies.addAll(other.latencies);
  }
}

/** Sums per interval over a bounded past. Intervals without requests take no memory. */
export class FigureRing {
  readonly #interval: number;
  readonly #slots: ({ readonly number: number; readonly sums: FigureSums } | undefined)[];

  /** `interval`: in milliseconds. `size`: number of intervals that are remembered. */
  constructor(interval: number, size: number) {
    this.#interval = interval;
    this.#slots = Array.from({ length: size }, () => undefined);
  }

  /** Counts a request that ended at a time, in milliseconds since the epoch. */
  add(time: number, request: FiguredRequest): void {
    const number = Math.floor(time / this.#interval);
    const at = number % this.#slots.length;
    let slot = this.#slots[at];
    if (slot?.number !== number) {
      slot = { number, sums: new FigureSums() };
      this.#slots[at] = slot;
    }
    slot.sums.add(request);
  }

  /** Returns the sums of the last intervals, the oldest first; `undefined` for an interval without requests. */
  last(count: number, now: number): readonly (FigureSums | undefined)[] {
    const newest = Math.floor(now / this.#interval);
    return Array.from({ length: Math.min(count, this.#slots.length) }, (_, index) => {
      const number = newest - Math.min(count, this.#slots.length) + 1 + index;
      const slot =
        this.#slots[((number % this.#slots.length) + this.#slots.length) % this.#slots.length];
      return slot?.number === number ? slot.sums : undefined;
    });
  }
}
