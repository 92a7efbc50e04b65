import { Duration, Timestamp } from "../time/time-values.ts";
import { at, hasKey } from "./select.ts";
import { Box, isPlainMap, kindOf, numberOf } from "./values.ts";

/** `left == right`; `undefined` if either is. */
export function equal(left: unknown, right: unknown): boolean | undefined {
  if (left === undefined || right === undefined) return undefined;
  return isEqual(left, right);
}

/** Whether `left` is a value and not equal to `right`. */
export function differs(left: unknown, right: unknown): boolean {
  return left !== undefined && right !== undefined && !isEqual(left, right);
}

/** `left === right`, for operands that TypeScript has narrowed and would not compare. */
export function isSame(left: unknown, right: unknown): boolean {
  return left === right;
}

/** `left < right`; `undefined` if they cannot be ordered. */
export function less(left: unknown, right: unknown): boolean | undefined {
  if (typeof left === "number" && typeof right === "number") return left < right;
  const order = compare(left, right);
  return order === undefined ? undefined : order < 0;
}

/** `left <= right`; `undefined` if they cannot be ordered. */
export function lessOrEqual(left: unknown, right: unknown): boolean | undefined {
  if (typeof left === "number" && typeof right === "number") return left <= right;
  const order = compare(left, right);
  return order === undefined ? undefined : order <= 0;
}

/** `left > right`; `undefined` if they cannot be ordered. */
export function greater(left: unknown, right: unknown): boolean | undefined {
  return less(right, left);
}

/** `left >= right`; `undefined` if they cannot be ordered. */
export function greaterOrEqual(left: unknown, right: unknown): boolean | undefined {
  return lessOrEqual(right, left);
}

/** `value in container`: an element of a list, a key of a map; `undefined` for other containers. */
export function includes(container: unknown, value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(container)) return hasKey(container, value);
  if (typeof value === "string") return container.includes(value);
  return container.some((element) => isEqual(element, value));
}

/** Compares values: negative, zero or positive; NaN for a NaN; `undefined` for values that cannot be ordered. */
export function compare(left: unknown, right: unknown): number | undefined {
  if (typeof left === "string") {
    return typeof right === "string" ? compareText(left, right) : undefined;
  }
  const first = numberOf(left);
  if (first !== undefined) {
    const second = numberOf(right);
    return second === undefined ? undefined : compareNumbers(first, second);
  }
  if (typeof left === "boolean") {
    return typeof right === "boolean" ? Number(left) - Number(right) : undefined;
  }
  if (left instanceof Timestamp && right instanceof Timestamp) return left.compare(right);
  if (left instanceof Duration && right instanceof Duration) return left.compare(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return undefined;
}

/** Compares strings by code points, whose order differs from that of UTF-16 units. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const first = left.charCodeAt(at);
    const second = right.charCodeAt(at);
    if (first !== second) return codePointOrder(first) - codePointOrder(second);
  }
  return left.length - right.length;
}

/** Surrogates encode code points above U+FFFF, so they are sorted after every other unit. */
function codePointOrder(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}

/** A double and an int compare as doubles; two exact numbers compare exactly. */
function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (typeof left === "bigint" && typeof right === "bigint") {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const first = Number(left);
  const second = Number(right);
  return first < second ? -1 : first > second ? 1 : first === second ? 0 : Number.NaN;
}

/** Pairs of lists and maps that one comparison has found equal, so that shared parts are compared once. */
type EqualPairs = Map<object, Set<object>>;

/** Compares two values deeply. */
export function isEqual(left: unknown, right: unknown): boolean {
  return isEqualPart(left, right, undefined);
}

function isEqualPart(left: unknown, right: unknown, known: EqualPairs | undefined): boolean {
  // a list with a NaN is not equal to itself
  if (left === right && typeof left !== "object") return true;
  if (typeof left === "string" || typeof right === "string") return false;
  const first = numberOf(left);
  if (first !== undefined) {
    const second = numberOf(right);
    return second !== undefined && compareNumbers(first, second) === 0;
  }
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null) return left === right;
  try {
    return isEqualObject(left, right, known ?? new Map());
  } catch (error) {
    // JSON may be nested deeper than the stack; such a value equals nothing
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function isEqualObject(left: object, right: object, known: EqualPairs): boolean {
  if (known.get(left)?.has(right) === true) return true;
  const isOne = isEqualContent(left, right, known);
  if (isOne) known.set(left, (known.get(left) ?? new Set()).add(right));
  return isOne;
}

function isEqualContent(left: object, right: object, known: EqualPairs): boolean {
  if (Array.isArray(left)) return Array.isArray(right) && isEqualList(left, right, known);
  if (left instanceof Box) return isEqualBox(left, right);
  if (left instanceof Uint8Array) {
    return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  }
  return kindOf(right) === "map" && isEqualMap(left, right, known);
}

function isEqualList(
  left: readonly unknown[],
  right: readonly unknown[],
  known: EqualPairs,
): boolean {
  if (left.length !== right.length) return false;
  return left.every((element, index) => isEqualPart(element, right[index], known));
}

function isEqualMap(left: object, right: object, known: EqualPairs): boolean {
  const entries = entriesOf(left);
  if (entries.length !== entriesOf(right).length) return false;
  return entries.every(
    ([key, value]) => hasKey(right, key) && isEqualPart(value, at(right, key), known),
  );
}

function entriesOf(map: object): readonly (readonly [unknown, unknown])[] {
  if (map instanceof Map) return [...map];
  return isPlainMap(map) ? Object.entries(map) : [];
}

/** A value of a class with its own equality. */
interface Comparable {
  equals(other: unknown): boolean;
}

function isEqualBox(left: Box, right: object): boolean {
  return "equals" in left && (left as Box & Comparable).equals(right);
}
