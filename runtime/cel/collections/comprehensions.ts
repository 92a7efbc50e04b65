import { isPlainMap, MAX_ITEMS } from "../values/values.ts";

/** Returns the range of a macro: the elements of a list, the keys of a map; `undefined` for other values. */
export function itemsOf(range: unknown): readonly unknown[] | undefined {
  if (Array.isArray(range)) return range;
  if (range instanceof Map) return [...range.keys()];
  return isPlainMap(range) ? Object.keys(range) : undefined;
}

/** Returns a range up to a maximum length; an error for longer ones. */
export function atMost(limit: number, range: unknown): unknown {
  if (Array.isArray(range)) return range.length <= limit ? range : undefined;
  if (range instanceof Map) return range.size <= limit ? range : undefined;
  return (itemsOf(range)?.length ?? 0) <= limit ? range : undefined;
}

/** Whether the test holds for an item: `exists` in a rule. False for values other than lists and maps. */
export function some(range: unknown, test: (item: unknown) => boolean): boolean {
  const items = itemsOf(range);
  if (items === undefined) return false;
  for (let at = 0; at < items.length; at += 1) if (test(items[at])) return true;
  return false;
}

/** Whether the test holds for every item: `all` in a rule. False for values other than lists and maps. */
export function every(range: unknown, test: (item: unknown) => boolean): boolean {
  const items = itemsOf(range);
  if (items === undefined) return false;
  for (let at = 0; at < items.length; at += 1) if (!test(items[at])) return false;
  return true;
}

/** `range.exists(item, test)` as a value: true wins over an error. */
export function exists(range: unknown, test: (item: unknown) => unknown): boolean | undefined {
  const items = itemsOf(range);
  if (items === undefined) return undefined;
  let isFailed = false;
  for (const item of items) {
    const result = test(item);
    if (result === true) return true;
    if (result !== false) isFailed = true;
  }
  return isFailed ? undefined : false;
}

/** `range.all(item, test)` as a value: false wins over an error. */
export function all(range: unknown, test: (item: unknown) => unknown): boolean | undefined {
  const items = itemsOf(range);
  if (items === undefined) return undefined;
  let isFailed = false;
  for (const item of items) {
    const result = test(item);
    if (result === false) return false;
    if (result !== true) isFailed = true;
  }
  return isFailed ? undefined : true;
}

/** `range.exists_one(item, test)`: any error is an error. */
export function existsOne(range: unknown, test: (item: unknown) => unknown): boolean | undefined {
  const items = itemsOf(range);
  if (items === undefined) return undefined;
  let count = 0;
  for (const item of items) {
    const result = test(item);
    if (typeof result !== "boolean") return undefined;
    if (result) count += 1;
  }
  return count === 1;
}

/** `range.filter(item, test)`. */
export function filter(
  range: unknown,
  test: (item: unknown) => unknown,
): readonly unknown[] | undefined {
  const items = itemsOf(range);
  if (items === undefined || items.length > MAX_ITEMS) return undefined;
  const kept: unknown[] = [];
  for (const item of items) {
    const result = test(item);
    if (typeof result !== "boolean") return undefined;
    if (result) kept.push(item);
  }
  return kept;
}

/** `range.map(item, change)`, and with a test `range.map(item, test, change)`. */
export function map(
  range: unknown,
  change: (item: unknown) => unknown,
  test?: (item: unknown) => unknown,
): readonly unknown[] | undefined {
  const items = itemsOf(range);
  if (items === undefined || items.length > MAX_ITEMS) return undefined;
  const changed: unknown[] = [];
  for (const item of items) {
    const isKept = test === undefined ? true : test(item);
    if (typeof isKept !== "boolean") return undefined;
    if (!isKept) continue;
    const value = change(item);
    if (value === undefined) return undefined;
    changed.push(value);
  }
  return changed;
}
