/** Thrown if a question exceeds its steps; the caller reports it as undecided. */
export class TooMuchWork extends Error {
  /** Whether the steps of the whole command are exhausted, so that the question might be decidable alone. */
  readonly isOfAll: boolean;

  constructor(isOfAll: boolean) {
    super("the question exceeds its steps");
    this.isOfAll = isOfAll;
  }
}

/** Maximum steps of a question. A step takes up to 200 ns on a slow processor, so this is a few seconds. */
const MAX_STEPS = 30_000_000;

/** Steps of a whole command, as a multiple of MAX_STEPS. */
const MAX_QUESTIONS = 6;

/**
 * Remaining steps of a question. Steps are counted instead of seconds, so that every machine decides the same. Code whose
 * work may grow faster than the configuration spends steps before it does the work.
 */
export class Work {
  #spent = 0;
  readonly #steps: number;
  readonly #all: Work | undefined;

  /** `all` has the remaining steps of the command. */
  constructor(steps = MAX_STEPS, all?: Work) {
    this.#steps = steps;
    this.#all = all;
  }

  /** Spends steps; throws `TooMuchWork` if they are exhausted. */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.#steps) throw new TooMuchWork(this.#all === undefined);
    this.#all?.spend(steps);
  }

  /** Creates the steps of a question of this command. */
  question(): Work {
    return new Work(MAX_STEPS, this);
  }

  /** Number of steps spent. */
  get spent(): number {
    return this.#spent;
  }
}

/** Creates the steps that all questions of a command share. */
export function workOfCommand(): Work {
  return new Work(MAX_QUESTIONS * MAX_STEPS);
}

/** Runs bounded work; `undefined` if it exceeds its steps. */
export function withinSteps<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}
