/** Values that no condition distinguishes, represented by an example. */
export interface ValueClass {
  /** Representative value; `undefined` for absence. */
  readonly example: unknown;
  /** Whether fields of a map or elements of a list are classified further. */
  readonly leadsTo: "nothing" | "fields" | "elements";
}

/** Classes of the possible values of a path. */
export interface ValueClasses {
  readonly classes: readonly ValueClass[];
  /** Returns the class of a value; -1 if it has no class, which is a bug. */
  readonly classOf: (value: unknown) => number;
  /** Whether every value has a class. */
  readonly isComplete: boolean;
}

/** Collects the classes of a path; values on which all conditions agree share a class. */
export class ClassCollector {
  readonly classes: ValueClass[] = [];
  readonly #known = new Map<string, number>();
  readonly #vectorOf: (example: unknown) => string;

  /** `vectorOf` returns the truth of every condition for a value, as a string. */
  constructor(vectorOf: (example: unknown) => string) {
    this.#vectorOf = vectorOf;
  }

  /** Returns the class of an example. Values that lead further never share a class with those that do not. */
  add(example: unknown, leadsTo: ValueClass["leadsTo"] = "nothing"): number {
    const key = leadsTo === "nothing" ? this.#vectorOf(example) : `to ${leadsTo}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, this.classes.length);
    return this.classes.push({ example, leadsTo }) - 1;
  }
}
