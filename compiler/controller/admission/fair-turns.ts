/** Work that waits for its turn. */
interface Waiting {
  readonly start: () => void;
  readonly refuse: () => void;
}

/**
 * Does work one after the other, callers in turn: who asks for much holds up nobody else for longer than one piece of it.
 * When too much waits, the newest of the caller with the most is refused.
 */
export class FairTurns {
  readonly #most: number;
  /** By caller; the next one is first. */
  readonly #waiting: Map<string, Waiting[]> = new Map();
  /** Number of waiting tasks, and of running ones. */
  #count = 0;
  #isBusy = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** Does the work in its turn. Rejects as the work does, or when it is refused. */
  async take<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#count >= this.#most && !this.#makePlace(caller)) throw tooMany();
    this.#count += 1;
    try {
      await new Promise<void>((start, reject) => {
        const own = this.#waiting.get(caller) ?? [];
        own.push({ start, refuse: () => reject(tooMany()) });
        this.#waiting.set(caller, own);
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

  /** Refuses the newest work of the caller with the most, where that has more than this one would have. */
  #makePlace(caller: string): boolean {
    const [greediest] = [...this.#waiting.values()].toSorted((a, b) => b.length - a.length);
    const own = this.#waiting.get(caller)?.length ?? 0;
    if (greediest === undefined || greediest.length <= own + 1) return false;
    greediest.pop()?.refuse();
    return true;
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [caller, [next, ...others]] = first;
    this.#waiting.delete(caller);
    if (others.length > 0) this.#waiting.set(caller, others);
    this.#isBusy = true;
    next?.start();
  }
}

function tooMany(): Error {
  return new Error("too many objects are judged");
}
