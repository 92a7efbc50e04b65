import type { Work } from "../effect/work/work.ts";

/** State shared by all parts of a comparison. */
export interface OpenQuestions {
  /** Undecided questions, each with its reason; every part adds its own. */
  readonly undecided: string[];
  /** Remaining steps of the command. */
  readonly work: Work;
}
