import { hasKey } from "../values/select.ts";
import { isIntNumber, isPlainMap, type PlainMap, Uint } from "../values/values.ts";

/** `size(value)`: code points of a string, bytes, elements, entries. */
export function size(value: unknown): number | undefined {
  if (typeof value === "string") return codePointCount(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Map) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return isPlainMap(value) ? Object.keys(value).length : undefined;
}

/** Returns the number of code points of a string. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const isLead = (text.charCodeAt(at) & 0xfc00) === 0xd800;
    if (isLead && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** `[a, b]`; an error if any element is an error. */
export function list(...elements: readonly unknown[]): readonly unknown[] | undefined {
  return elements.includes(undefined) ? undefined : elements;
}

/** `{"a": b}` with constant keys; an error if any value is an error. */
export function record(entries: PlainMap): PlainMap | undefined {
  for (const key of Object.keys(entries)) if (entries[key] === undefined) return undefined;
  return entries;
}

/** `{a: b}`; `undefined` if a key has an invalid type or is repeated, or any part is an error. */
export function mapOf(
  ...entries: readonly (readonly [key: unknown, value: unknown])[]
): ReadonlyMap<unknown, unknown> | undefined {
  const map = new Map<unknown, unknown>();
  for (const [key, value] of entries) {
    if (value === undefined || !isKey(key) || hasKey(map, key)) return undefined;
    map.set(key, value);
  }
  return map;
}

/** Whether a value can be a key: bool, int, uint or string. */
export function isKey(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
      return true;
    case "number":
      return isIntNumber(value);
    default:
      return value instanceof Uint;
  }
}
