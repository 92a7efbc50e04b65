import type { JsonObject } from "../variables.ts";
import { Double, isIntNumber, isPlainMap, Uint } from "./values.ts";

/**
 * Returns an own property of a JSON object, for names that every object inherits (`constructor`, `toString`, ...);
 * `undefined` if absent.
 */
export function own(object: JsonObject | null | undefined, name: string): unknown {
  if (object === null || object === undefined) return undefined;
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** `value.name`: the entry of a map; `undefined` if it is absent or `value` is not a map. */
export function field(value: unknown, name: string): unknown {
  if (isPlainMap(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
  return value instanceof Map ? value.get(name) : undefined;
}

/** `has(value.name)`: false for values without fields, `undefined` if `value` is an error. */
export function hasField(value: unknown, name: string): boolean | undefined {
  if (isPlainMap(value)) return Object.hasOwn(value, name);
  if (value === undefined) return undefined;
  return value instanceof Map && value.has(name);
}

/** Whether there is a value. */
export function isPresent(value: unknown): boolean {
  return value !== undefined;
}

/** `value[key]`: the entry of a map or the element of a list; `undefined` if it is absent. */
export function at(value: unknown, key: unknown): unknown {
  if (Array.isArray(value)) {
    const index = indexOf(key);
    return index === undefined ? undefined : value[index];
  }
  if (typeof key === "string") return field(value, key);
  return value instanceof Map ? entryOf(value, key)?.[1] : undefined;
}

/** Whether a map has a key; `undefined` if `value` is not a map. */
export function hasKey(value: unknown, key: unknown): boolean | undefined {
  if (isPlainMap(value)) return typeof key === "string" && Object.hasOwn(value, key);
  if (!(value instanceof Map)) return undefined;
  return typeof key === "string" ? value.has(key) : entryOf(value, key) !== undefined;
}

/** Converts an integer of any CEL type to an index; `undefined` for any other value. */
function indexOf(key: unknown): number | undefined {
  if (typeof key === "number") return isIntNumber(key) || key === 0 ? key : undefined;
  if (!(key instanceof Uint || key instanceof Double)) return undefined;
  return typeof key.value === "number" ? indexOf(key.value) : undefined;
}

/** Returns the entry of a map for a key that is not a string; equal numbers are the same key. */
function entryOf(
  map: ReadonlyMap<unknown, unknown>,
  key: unknown,
): readonly [unknown, unknown] | undefined {
  const plain = key instanceof Uint || key instanceof Double ? key.value : key;
  if (map.has(plain)) return [plain, map.get(plain)];
  if (typeof plain !== "number" && typeof plain !== "bigint") return undefined;
  // uint keys are boxed; only map literals have them, so they are few
  for (const entry of map) {
    if (entry[0] instanceof Uint && entry[0].value === plain) return entry;
  }
  return undefined;
}
