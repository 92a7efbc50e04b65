import { Deadlines, type Timed } from "../time/deadlines.ts";

/** Milliseconds that a command may take before the store counts as away. */
const COMMAND_TIME = 2000;

/**
 * Limits the time that commands take. Time in which this process does not run does not count: responses that arrived meanwhile
 * are read first, so that its own pause is no outage of the store.
 */
export class CommandDeadlines {
  readonly #deadlines = new Deadlines<PendingCommand>();

  /** Returns the result of a command. Rejects if there is none after this many milliseconds. */
  async limit<Result>(command: Promise<Result>, time = COMMAND_TIME): Promise<Result> {
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const pending = new PendingCommand(this.#deadlines.after(time), reject);
    this.#deadlines.add(pending);
    try {
      return await Promise.race([command, timeout]);
    } finally {
      this.#deadlines.delete(pending);
    }
  }
}

class PendingCommand implements Timed {
  place = 0;
  readonly deadline: number;
  readonly #reject: (error: Error) => void;

  constructor(deadline: number, reject: (error: Error) => void) {
    this.deadline = deadline;
    this.#reject = reject;
  }

  expire(tick: number): void {
    if (tick >= this.deadline) this.#reject(new Error("the command timed out"));
  }
}
