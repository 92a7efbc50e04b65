import { FairQueue } from "../fair-queue.ts";

/** Work that waits for its turn. */
interface Waiting {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * Runs tasks one after the other, those of each caller in turn. When too many wait, the newest one of the caller with
 * the most is refused.
 */
export class FairTurns {
  readonly #max: number;
  readonly #waiting = new FairQueue<Waiting>();
  /** Number of waiting tasks, and of running ones. */
  #count = 0;
  #lastId = 0;
  #isBusy = false;

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs a task in its turn. Rejects if the task does, or if it is refused. */
  async take<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#count >= this.#max) {
      const dropped = this.#waiting.dropNewest(caller);
      if (dropped === undefined) throw tooMany();
      dropped.refuse();
    }
    this.#count += 1;
    try {
      await new Promise<void>((start, reject) => {
        this.#lastId += 1;
        const refuse = () => reject(tooMany());
        this.#waiting.add(caller, String(this.#lastId), { start, refuse });
        if (!this.#isBusy) this.#next();
      });
    } catch (error) {
      this.#count -= 1;
      throw error;
    }
    try {
      return await work();
    } finally {
      this.#count -= 1;
      this.#isBusy = false;
      this.#next();
    }
  }

  #next(): void {
    const [, next] = this.#waiting.take(() => true) ?? [];
    if (next === undefined) return;
    this.#isBusy = true;
    next.start();
  }
}

function tooMany(): Error {
  return new Error("too many objects are judged");
}
