/** What has a deadline. */
export interface Timed {
  /** A tick; Infinity: none. */
  readonly deadline: number;
  /** Called at every tick. */
  expire(tick: number): void;
}

/** Milliseconds between two ticks. */
const tickTime = 250;

/**
 * The deadlines of many connections: one timer looks at all, and nothing is armed for a request. Time is counted in ticks;
 * a process that is too busy to count gives everybody more of it.
 */
export class Deadlines {
  readonly #members = new Set<Timed>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #date = "";

  /** The time of the last tick as fields have it (RFC 9110 5.6.7). */
  get date(): string {
    return this.#date;
  }

  /** The tick that is at least so many milliseconds away. */
  after(milliseconds: number): number {
    return this.#tick + Math.ceil(milliseconds / tickTime) + 1;
  }

  add(member: Timed): void {
    this.#members.add(member);
    if (this.#timer !== undefined) return;
    this.#date = new Date().toUTCString();
    this.#timer = setInterval(() => this.#look(), tickTime).unref();
  }

  delete(member: Timed): void {
    this.#members.delete(member);
  }

  #look(): void {
    this.#tick += 1;
    this.#date = new Date().toUTCString();
    if (this.#members.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const member of this.#members) member.expire(this.#tick);
  }
}
