import type { Work } from "../effect/work/work.ts";

/** What all parts of a comparison share. */
export interface OpenQuestions {
  /** What could not be decided, each with why: whoever finds such a thing adds it. */
  readonly undecided: string[];
  /** What is left to all questions together. */
  readonly work: Work;
}
