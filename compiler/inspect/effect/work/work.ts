/** A question takes more steps than it may: whoever asked it says that it is not decided. */
export class TooMuchWork extends Error {
  /** Whether all questions together took too many: what is not decided now might be by itself. */
  readonly isOfAll: boolean;

  constructor(isOfAll: boolean) {
    super("more work than a question may take");
    this.isOfAll = isOfAll;
  }
}

/** Steps of a question. A step takes up to 200 ns of a slow processor, so this is some seconds. */
const MAX_STEPS = 30_000_000;

/** All questions of a command together may take as many steps as so many of them. */
const MAX_QUESTIONS = 6;

/**
 * The steps that are left to a question. Steps are counted, not seconds: what is decided on one machine is decided on all
 * of them. Whatever may grow faster than the configuration says here what it is about to do, before it does it.
 */
export class Work {
  #spent = 0;
  readonly #steps: number;
  readonly #all: Work | undefined;

  /** `all`: what is left to all questions of a command. */
  constructor(steps = MAX_STEPS, all?: Work) {
    this.#steps = steps;
    this.#all = all;
  }

  /** Takes some of the steps, and throws `TooMuchWork` if there are not so many. */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.#steps) throw new TooMuchWork(this.#all === undefined);
    this.#all?.spend(steps);
  }

  /** The steps of one of its questions. */
  question(): Work {
    return new Work(MAX_STEPS, this);
  }

  /** The steps that were taken. */
  get spent(): number {
    return this.#spent;
  }
}

/** The steps that all questions of a command share. */
export function workOfCommand(): Work {
  return new Work(MAX_QUESTIONS * MAX_STEPS);
}

/** What comes out of work that is bounded; undefined: it takes more steps than it may. */
export function withinSteps<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof TooMuchWork) return undefined;
    throw error;
  }
}
