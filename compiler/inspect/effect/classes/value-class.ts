/** Values that no condition tells apart, by one of them. */
export interface ValueClass {
  /** One of them; undefined: nothing is there. */
  readonly example: unknown;
  /** What follows: nothing, the fields of a map, or the elements of a list. */
  readonly leadsTo: "nothing" | "fields" | "elements";
}

/** The classes of the values that a path can have. */
export interface ValueClasses {
  readonly classes: readonly ValueClass[];
  /** The class of a value; -1: none, which is a mistake of ours. */
  readonly classOf: (value: unknown) => number;
  /** False when there may be values without a class. */
  readonly isComplete: boolean;
}

/** Collects the classes of a path: values on which all conditions agree are one. */
export class ClassCollector {
  readonly classes: ValueClass[] = [];
  readonly #known = new Map<string, number>();
  readonly #vectorOf: (example: unknown) => string;

  /** `vectorOf`: what every condition says of a value. */
  constructor(vectorOf: (example: unknown) => string) {
    this.#vectorOf = vectorOf;
  }

  /** The class of an example. What leads on is never one with what does not. */
  add(example: unknown, leadsTo: ValueClass["leadsTo"] = "nothing"): number {
    const key = leadsTo === "nothing" ? this.#vectorOf(example) : `to ${leadsTo}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, this.classes.length);
    return this.classes.push({ example, leadsTo }) - 1;
  }
}
