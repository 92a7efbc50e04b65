import type { Truth } from "../conditions/condition.ts";
import type { LeafForm, ValueFeatures } from "../conditions/leaf-features.ts";
import type { Work } from "../work/work.ts";
import { numberCells, stringCells } from "./scalar-classes.ts";

/** A condition that tests the elements of a list individually. */
export interface ElementCondition {
  readonly text: string;
  readonly form: LeafForm;
  /** Evaluates the condition for a list with one element. */
  readonly on: (element: unknown) => Truth;
}

/** Classes of list elements; a list is described by the set of classes of its elements. */
export interface ElementClasses {
  readonly examples: readonly unknown[];
  readonly classOf: (element: unknown) => number;
  /** Returns the truth of a condition for a one-element list of each class. */
  readonly truthsOf: (text: string) => readonly Truth[];
  /** Classes whose elements do not affect any condition. */
  readonly neutral: ReadonlySet<number>;
  readonly isComplete: boolean;
}

/** Returns the truth of a condition for an empty list, and for neutral elements. */
export function truthOfEmpty(form: LeafForm): Truth {
  return form === "all" ? "true" : "false";
}

/** Divides elements into classes by the truth of conditions. */
export function elementClasses(
  { strings, numbers }: ValueFeatures,
  conditions: readonly ElementCondition[],
  work: Work,
): ElementClasses {
  const examples: unknown[] = [];
  const truths: (readonly Truth[])[] = [];
  const known = new Map<string, number>();
  const add = (example: unknown): number => {
    work.spend(conditions.length);
    const found = conditions.map(({ on }) => on(example));
    const index = known.get(found.join());
    if (index !== undefined) return index;
    known.set(found.join(), examples.length);
    truths.push(found);
    return examples.push(example) - 1;
  };
  const texts = stringCells(
    [...strings.values()],
    { pattern: undefined, plain: ["other"] },
    add,
    work,
  );
  const amounts = numberCells(numbers, add);
  const others = new Map([null, true, false].map((value) => [value, add(value)]));
  const [list, map] = [add([]), add({})];
  const classOf = (element: unknown): number => {
    if (typeof element === "string") return texts.classOf(element);
    if (typeof element === "number") return amounts.classOf(element);
    if (element === null || typeof element === "boolean") return others.get(element) ?? -1;
    return Array.isArray(element) ? list : map;
  };
  const neutral = truths.flatMap((found, index) =>
    conditions.every(({ form }, at) => found[at] === truthOfEmpty(form)) ? index : [],
  );
  const truthsOf = (text: string): readonly Truth[] => {
    const at = conditions.findIndex((each) => each.text === text);
    return truths.map((found) => found[at] ?? "error");
  };
  return { examples, classOf, truthsOf, neutral: new Set(neutral), isComplete: texts.isComplete };
}
