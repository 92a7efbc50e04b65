/**
 * The bytes of messages that a process holds because somebody reads them whole. All of them together have a bound: what
 * one connection may hold, thousands of them may not.
 */
export class BufferBudget {
  /** The most bytes. */
  limit: number;
  #held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** False: there is no room for so many bytes, and none of them is counted. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.limit) return false;
    this.#held += bytes;
    return true;
  }

  /** Bytes that were taken are held no longer. */
  give(bytes: number): void {
    this.#held -= bytes;
  }
}
