import type { CelPhase } from "../../../cel/compile.ts";
import type { LeafCondition, Truth } from "../conditions/condition.ts";
import type { DataPath } from "../data/data-path.ts";
import { dataWith } from "../data/request-data.ts";
import { runCondition } from "../rules/run-rules.ts";
import { featureSteps, featureVector } from "../strings/string-feature.ts";
import type { Work } from "../work/work.ts";

/** Steps for a cache lookup, and for running a condition. */
const [STEPS_TO_KNOW, STEPS_TO_RUN] = [15, 80];

/** Runs conditions on examples of each class and caches the results. */
export class LeafRuns {
  readonly #phase: CelPhase;
  readonly #work: Work;
  readonly #runs = new Map<string, Truth>();
  readonly #tests = new Map<LeafCondition, (value: string) => string>();

  constructor(phase: CelPhase, work: Work) {
    this.#phase = phase;
    this.#work = work;
  }

  /** Returns the truth of a condition for a value at a path; run once for each combination of its own features. */
  truthOf(leaf: LeafCondition, path: DataPath, example: unknown): Truth {
    this.#work.spend(STEPS_TO_KNOW);
    const own = this.#ownClass(leaf, example);
    const key = own === undefined ? undefined : `${leaf.text} ${path.length} ${own}`;
    const known = key === undefined ? undefined : this.#runs.get(key);
    if (known !== undefined) return known;
    this.#work.spend(STEPS_TO_RUN);
    const found = runCondition(leaf.text, this.#phase, dataWith([[path, example]]));
    if (key !== undefined) this.#runs.set(key, found);
    return found;
  }

  /** Returns the features of a string or number for a condition; `undefined` for other values, which are few. */
  #ownClass(leaf: LeafCondition, example: unknown): string | undefined {
    const { strings, numbers, networks } = leaf.features;
    if (networks.size > 0 || leaf.form !== "value") return undefined;
    if (typeof example === "number") {
      this.#work.spend(numbers.size);
      return `number ${[...numbers].map((each) => Math.sign(example - each)).join()}`;
    }
    if (typeof example !== "string") return undefined;
    const features = [...strings.values()];
    this.#work.spend(featureSteps(features)(example.length));
    const test = this.#tests.get(leaf) ?? featureVector(features);
    this.#tests.set(leaf, test);
    return `string ${test(example)}`;
  }
}
