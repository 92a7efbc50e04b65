import { isEqual } from "../values/compare.ts";
import { isPlainMap } from "../values/values.ts";
import { entriesOf } from "./entries.ts";

/** `map.mapValues(value, change)`. */
export function mapValues(
  map: unknown,
  change: (value: unknown) => unknown,
): ReadonlyMap<unknown, unknown> | undefined {
  if (!isMap(map)) return undefined;
  const changed = new Map<unknown, unknown>();
  for (const [key, value] of entriesOf(map) ?? []) {
    const result = change(value);
    if (result === undefined) return undefined;
    changed.set(key, result);
  }
  return changed;
}

/** `map.filterKeys(key, test)`. */
export function filterKeys(
  map: unknown,
  test: (key: unknown) => unknown,
): ReadonlyMap<unknown, unknown> | undefined {
  if (!isMap(map)) return undefined;
  const kept = new Map<unknown, unknown>();
  for (const [key, value] of entriesOf(map) ?? []) {
    const isKept = test(key);
    if (typeof isKept !== "boolean") return undefined;
    if (isKept) kept.set(key, value);
  }
  return kept;
}

/** `map.merge(other)`: the other one's entries win. */
export function merge(map: unknown, other: unknown): ReadonlyMap<unknown, unknown> | undefined {
  if (!isMap(map) || !isMap(other)) return undefined;
  const merged = new Map(entriesOf(map) ?? []);
  for (const [key, value] of entriesOf(other) ?? []) {
    const known =
      typeof key === "string" ? key : [...merged.keys()].find((each) => isEqual(each, key));
    merged.set(known ?? key, value);
  }
  return merged;
}

/** `headers.redacted()`: values of credentials and cookies are replaced. */
export function redacted(headers: unknown): ReadonlyMap<unknown, unknown> | undefined {
  if (!isMap(headers)) return undefined;
  const shown = new Map<unknown, unknown>();
  for (const [name, value] of entriesOf(headers) ?? [])
    shown.set(name, typeof name === "string" && SENSITIVE.test(name) ? "<redacted>" : value);
  return shown;
}

/** Names of headers with credentials: `authorization`, `x-api-key`, `x-goog-iap-jwt-assertion`, ... */
const SENSITIVE = /(^|-)(authorization|cookie2?|token|secret|password|key|assertion|signature)$/i;

function isMap(value: unknown): boolean {
  return value instanceof Map || isPlainMap(value);
}
