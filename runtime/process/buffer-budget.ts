/**
 * Limits the bytes of all messages that a process buffers whole. A limit per connection is not enough: thousands of connections
 * add up.
 */
export class BufferBudget {
  /** Maximum number of bytes. */
  limit: number;
  readonly #cells: Float64Array;
  readonly #own: number;

  /** `cells`: bytes held by each thread, in shared memory; `own`: index of this thread, the only writer of its cell. */
  constructor(limit: number, cells: Float64Array = new Float64Array(1), own = 0) {
    this.limit = limit;
    this.#cells = cells;
    this.#own = own;
    this.#cells[own] = 0;
  }

  /** Number of bytes held now, by all threads. */
  get held(): number {
    let held = 0;
    for (const bytes of this.#cells) held += bytes;
    return held;
  }

  /** Reserves bytes. Returns false, without reserving any, if the budget has no room for them. */
  take(bytes: number): boolean {
    // Added before the check, so of two threads that reserve at the same time at least one sees the other.
    this.#add(bytes);
    if (this.held <= this.limit) return true;
    this.#add(-bytes);
    return false;
  }

  /** Releases reserved bytes. */
  give(bytes: number): void {
    this.#add(-bytes);
  }

  #add(bytes: number): void {
    this.#cells[this.#own] = (this.#cells[this.#own] ?? 0) + bytes;
  }
}
