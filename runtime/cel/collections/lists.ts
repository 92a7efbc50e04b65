import { compare } from "../values/compare.ts";
import { MAX_ITEMS } from "../values/values.ts";

/** Maximum nesting depth that is flattened. */
const MAX_LEVELS = 1_000;
/** Maximum length of lists that are sorted: sorting longer ones would delay every other request. */
const MAX_SORTED = 20_000;

/** `flatten(list)`, `list.flatten()`: the elements of nested lists, one level deep; too many are an error. */
export function flatten(list: unknown): readonly unknown[] | undefined {
  return flattened(list, 1);
}

/** `flattenRecursive(list)`: all levels; too many elements are an error. */
export function flattenRecursive(list: unknown): readonly unknown[] | undefined {
  return flattened(list, MAX_LEVELS);
}

function flattened(list: unknown, levels: number): readonly unknown[] | undefined {
  const flat: unknown[] = [];
  let left = MAX_ITEMS;
  const gather = (item: unknown, level: number): boolean => {
    if (!Array.isArray(item) || level > levels) flat.push(item);
    else if (!item.every((each) => gather(each, level + 1))) return false;
    left -= 1;
    return left >= -1;
  };
  return Array.isArray(list) && gather(list, 0) ? flat : undefined;
}

/** `list.sort()`: in ascending order; elements that cannot be ordered are an error. */
export function sort(list: unknown): readonly unknown[] | undefined {
  return sortBy(list, (item) => item);
}

/** `list.sortBy(item, key)`: by a key of each element; the order of equal keys is stable. */
export function sortBy(
  list: unknown,
  keyOf: (item: unknown) => unknown,
): readonly unknown[] | undefined {
  if (!Array.isArray(list) || list.length > MAX_SORTED) return undefined;
  const keyed = list.map((item: unknown) => ({ item, key: keyOf(item) }));
  const [first] = keyed;
  if (first === undefined) return [];
  for (const { key } of keyed) if (compare(key, first.key) === undefined) return undefined;
  return keyed.sort((left, right) => compare(left.key, right.key) ?? 0).map(({ item }) => item);
}

/** `list.max()` and `max(a, b)`: the largest. */
export function max(...values: readonly unknown[]): unknown {
  return extreme(listOf(values), (order) => order > 0);
}

/** `list.min()` and `min(a, b)`: the smallest. */
export function min(...values: readonly unknown[]): unknown {
  return extreme(listOf(values), (order) => order < 0);
}

function extreme(list: unknown, isBetter: (order: number) => boolean): unknown {
  if (!Array.isArray(list) || list.length > MAX_ITEMS) return undefined;
  let best: unknown = list[0];
  for (const item of list) {
    const order = compare(item, best);
    if (order === undefined) return undefined;
    if (isBetter(order)) best = item;
  }
  return best;
}

function listOf(values: readonly unknown[]): unknown {
  const [only] = values;
  return values.length === 1 && Array.isArray(only) ? only : values;
}
