import type { CelPhase } from "../../../cel/compile.ts";
import type { LeafCondition, Truth } from "../conditions/condition.ts";
import type { DataPath } from "../data/data-path.ts";
import { dataWith } from "../data/request-data.ts";
import { runCondition } from "../rules/run-rules.ts";
import { featureVector } from "../strings/string-feature.ts";

/** Runs conditions over one value on values of each class, and remembers what came out. */
export class LeafRuns {
  readonly #phase: CelPhase;
  readonly #runs = new Map<string, Truth>();
  readonly #tests = new Map<LeafCondition, (value: string) => string>();

  constructor(phase: CelPhase) {
    this.#phase = phase;
  }

  /** What a condition is when a path has a value, run once for each combination of what it tells apart itself. */
  truthOf(leaf: LeafCondition, path: DataPath, example: unknown): Truth {
    const own = this.#ownClass(leaf, example);
    const key = own === undefined ? undefined : `${leaf.text} ${path.length} ${own}`;
    const known = key === undefined ? undefined : this.#runs.get(key);
    if (known !== undefined) return known;
    const found = runCondition(leaf.text, this.#phase, dataWith([[path, example]]));
    if (key !== undefined) this.#runs.set(key, found);
    return found;
  }

  /** How a condition sees a string or a number; undefined for other values, which are few. */
  #ownClass(leaf: LeafCondition, example: unknown): string | undefined {
    const { strings, numbers, networks } = leaf.features;
    if (networks.size > 0 || leaf.form !== "value") return undefined;
    if (typeof example === "number")
      return `number ${[...numbers].map((each) => Math.sign(example - each)).join()}`;
    if (typeof example !== "string") return undefined;
    const test = this.#tests.get(leaf) ?? featureVector([...strings.values()]);
    this.#tests.set(leaf, test);
    return `string ${test(example)}`;
  }
}
