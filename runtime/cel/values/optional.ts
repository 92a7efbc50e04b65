import { codePointCount } from "../collections/collections.ts";
import { Duration, Timestamp } from "../time/time-values.ts";
import { isEqual } from "./compare.ts";
import { at } from "./select.ts";
import { Box, isPlainMap, numberOf } from "./values.ts";

/** A value that may be absent; `content` is `undefined` then. */
export class Optional extends Box {
  readonly kind = "optional";
  readonly content: unknown;

  constructor(content: unknown) {
    super();
    this.content = content;
  }

  equals(other: unknown): boolean {
    if (!(other instanceof Optional)) return false;
    if (this.content === undefined || other.content === undefined) {
      return this.content === other.content;
    }
    return isEqual(this.content, other.content);
  }
}

/** `optional.none()`. */
export function optionalNone(): Optional {
  return new Optional(undefined);
}

/** `optional.of(value)`. */
export function optionalOf(value: unknown): Optional | undefined {
  return value === undefined ? undefined : new Optional(value);
}

/** `root.?field`, where `undefined` means that the field is absent. */
export function ofPresent(value: unknown): Optional {
  return new Optional(value);
}

/** `optional.ofNonZeroValue(value)`. */
export function ofNonZeroValue(value: unknown): Optional | undefined {
  if (value === undefined) return undefined;
  return new Optional(isZero(value) ? undefined : value);
}

/** `value[?key]`, `value.?field`, and any selection on an optional: empty if absent. */
export function optionalAt(value: unknown, key: unknown): Optional | undefined {
  if (value === undefined || key === undefined) return undefined;
  const container = value instanceof Optional ? value.content : value;
  if (container === undefined) return new Optional(undefined);
  const isContainer = Array.isArray(container) || container instanceof Map || isPlainMap(container);
  if (!isContainer) return undefined;
  const found = at(container, key);
  return found instanceof Optional && value instanceof Optional ? found : new Optional(found);
}

/** `has(optional.field)`. */
export function hasIn(value: unknown, field: string): boolean | undefined {
  const found = optionalAt(value, field);
  return found === undefined ? undefined : found.content !== undefined;
}

/** `optional.hasValue()`. */
export function hasValue(optional: unknown): boolean | undefined {
  return optional instanceof Optional ? optional.content !== undefined : undefined;
}

/** `optional.value()`: an error when it is absent. */
export function contentOf(optional: unknown): unknown {
  return optional instanceof Optional ? optional.content : undefined;
}

/** `optional.or(other)`: the first that has a value. */
export function orOptional(optional: unknown, other: unknown): unknown {
  if (!(optional instanceof Optional)) return undefined;
  if (optional.content !== undefined) return optional;
  return other instanceof Optional ? other : undefined;
}

/** `optional.orValue(value)`. */
export function orValue(optional: unknown, value: unknown): unknown {
  if (!(optional instanceof Optional)) return undefined;
  return optional.content === undefined ? value : optional.content;
}

/** `optional.optMap(name, change)`. */
export function optMap(optional: unknown, change: (value: unknown) => unknown): unknown {
  if (!(optional instanceof Optional)) return undefined;
  return optional.content === undefined ? optional : optionalOf(change(optional.content));
}

/** `optional.optFlatMap(name, change)`, where the change returns an optional. */
export function optFlatMap(optional: unknown, change: (value: unknown) => unknown): unknown {
  if (!(optional instanceof Optional)) return undefined;
  if (optional.content === undefined) return optional;
  const changed = change(optional.content);
  return changed instanceof Optional ? changed : undefined;
}

/** `optional.unwrap(list)`: the contents of those with a value. */
export function unwrap(list: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const contents: unknown[] = [];
  for (const each of list) {
    if (!(each instanceof Optional)) return undefined;
    if (each.content !== undefined) contents.push(each.content);
  }
  return contents;
}

/** `list.first()`. */
export function first(list: unknown): Optional | undefined {
  return Array.isArray(list) ? new Optional(list[0]) : undefined;
}

/** `list.last()`. */
export function last(list: unknown): Optional | undefined {
  return Array.isArray(list) ? new Optional(list.at(-1)) : undefined;
}

/** Whether a value is the zero value of its type: false, 0, "", [], {}, null. */
function isZero(value: unknown): boolean {
  if (value === null || value === false) return true;
  if (typeof value === "string") return codePointCount(value) === 0;
  const number = numberOf(value);
  if (number !== undefined) return Number(number) === 0;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Map) return value.size === 0;
  if (value instanceof Duration) return value.seconds === 0 && value.nanos === 0;
  if (value instanceof Timestamp) return value.seconds === 0 && value.nanos === 0;
  return isPlainMap(value) && Object.keys(value).length === 0;
}
