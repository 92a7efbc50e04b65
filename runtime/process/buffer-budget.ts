/**
 * The bytes of messages that a process holds because somebody reads them whole. All of them together have a bound: what
 * one connection may hold, thousands of them may not.
 */
export class BufferBudget {
  /** The most bytes. */
  limit: number;
  readonly #cells: Float64Array;
  readonly #own: number;

  /** `cells`: the bytes that each thread holds, in memory that they share; `own`: the place of this one, its only writer. */
  constructor(limit: number, cells: Float64Array = new Float64Array(1), own = 0) {
    this.limit = limit;
    this.#cells = cells;
    this.#own = own;
    this.#cells[own] = 0;
  }

  /** Bytes that are held now. */
  get held(): number {
    let held = 0;
    for (const bytes of this.#cells) held += bytes;
    return held;
  }

  /** False: there is no room for so many bytes, and none of them is counted. */
  take(bytes: number): boolean {
    // Counted first: of two threads that take at once one at least sees the other.
    this.#add(bytes);
    if (this.held <= this.limit) return true;
    this.#add(-bytes);
    return false;
  }

  /** Bytes that were taken are held no longer. */
  give(bytes: number): void {
    this.#add(-bytes);
  }

  #add(bytes: number): void {
    this.#cells[this.#own] = (this.#cells[this.#own] ?? 0) + bytes;
  }
}
