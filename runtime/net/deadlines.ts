import { Members, type Placed } from "../process/members.ts";

/** What has a deadline. */
export interface Timed extends Placed {
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
export class Deadlines<Each extends Timed = Timed> extends Members<Each> {
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

  override add(member: Each): void {
    super.add(member);
    if (this.#timer !== undefined) return;
    this.#date = new Date().toUTCString();
    this.#timer = setInterval(() => this.#look(), tickTime).unref();
  }

  #look(): void {
    this.#tick += 1;
    this.#date = new Date().toUTCString();
    if (this.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.visit((member) => member.expire(this.#tick));
  }
}
