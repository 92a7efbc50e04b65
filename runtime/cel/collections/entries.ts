import { hasKey } from "../values/select.ts";
import { isPlainMap, MAX_ITEMS } from "../values/values.ts";
import { isKey } from "./collections.ts";

type Entry = readonly [key: unknown, value: unknown];
type EntryTest = (key: unknown, value: unknown) => unknown;

/** Returns the range of a macro with two variables: index and element of a list, key and value of a map. */
export function entriesOf(range: unknown): Iterable<Entry> | undefined {
  if (Array.isArray(range)) return range.entries();
  if (range instanceof Map) return range;
  return isPlainMap(range) ? Object.entries(range) : undefined;
}

/** `range.exists(key, value, test)`. */
export function existsEntry(range: unknown, test: EntryTest): boolean | undefined {
  return quantify(range, test, true);
}

/** `range.all(key, value, test)`. */
export function allEntries(range: unknown, test: EntryTest): boolean | undefined {
  return quantify(range, test, false);
}

/** Ends at a `decisive` result; an error counts unless one is found. */
function quantify(range: unknown, test: EntryTest, decisive: boolean): boolean | undefined {
  const entries = entriesOf(range);
  if (entries === undefined) return undefined;
  let isFailed = false;
  for (const [key, value] of entries) {
    const result = test(key, value);
    if (result === decisive) return decisive;
    if (result !== !decisive) isFailed = true;
  }
  return isFailed ? undefined : !decisive;
}

/** `range.existsOne(key, value, test)`: any error is an error. */
export function existsOneEntry(range: unknown, test: EntryTest): boolean | undefined {
  const found = kept(range, test);
  return found === undefined ? undefined : found.length === 1;
}

/** `range.transformList(key, value, change)`, and with a test before the change. */
export function transformList(
  range: unknown,
  change: EntryTest,
  test?: EntryTest,
): readonly unknown[] | undefined {
  return changed(range, change, test)?.map(([, value]) => value);
}

/** `range.transformMap(key, value, change)`, and with a test before the change. */
export function transformMap(
  range: unknown,
  change: EntryTest,
  test?: EntryTest,
): ReadonlyMap<unknown, unknown> | undefined {
  const entries = changed(range, change, test);
  return entries === undefined ? undefined : new Map(entries);
}

/** `range.transformMapEntry(key, value, {k: v})`: a repeated key is an error. */
export function transformMapEntry(
  range: unknown,
  change: EntryTest,
  test?: EntryTest,
): ReadonlyMap<unknown, unknown> | undefined {
  const entries = changed(range, change, test);
  if (entries === undefined) return undefined;
  const map = new Map<unknown, unknown>();
  for (const [, part] of entries) {
    if (Array.isArray(part)) return undefined;
    const pairs = entriesOf(part);
    if (pairs === undefined) return undefined;
    for (const [key, value] of pairs) {
      if (!isKey(key) || hasKey(map, key)) return undefined;
      map.set(key, value);
    }
  }
  return map;
}

function changed(
  range: unknown,
  change: EntryTest,
  test: EntryTest | undefined,
): readonly Entry[] | undefined {
  const entries = kept(range, test);
  if (entries === undefined) return undefined;
  const results: Entry[] = [];
  for (const [key, value] of entries) {
    const result = change(key, value);
    if (result === undefined) return undefined;
    results.push([key, result]);
  }
  return results;
}

function kept(range: unknown, test: EntryTest | undefined): readonly Entry[] | undefined {
  const entries = entriesOf(range);
  if (entries === undefined) return undefined;
  const results: Entry[] = [];
  for (const entry of entries) {
    if (results.length === MAX_ITEMS) return undefined;
    const isKept = test === undefined ? true : test(...entry);
    if (typeof isKept !== "boolean") return undefined;
    if (isKept) results.push(entry);
  }
  return results;
}
