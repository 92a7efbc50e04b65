import { addTimes, subtractTimes } from "../time/time-arithmetic.ts";
import {
  double,
  doubleOf,
  type Int,
  int,
  isInt,
  MAX_ITEMS,
  MAX_TEXT,
  Uint,
  uint,
  withinLimit,
} from "./values.ts";

/**
 * `left + right` of numbers, strings, bytes, lists, times; `undefined` for other pairs, beyond 64 bits, and for results that
 * are too long.
 */
export function add(left: unknown, right: unknown): unknown {
  if (isInt(left)) {
    if (!isInt(right)) return undefined;
    if (typeof left === "number" && typeof right === "number") {
      const sum = left + right;
      if (Number.isSafeInteger(sum)) return sum;
    }
    return int(BigInt(left) + BigInt(right));
  }
  if (typeof left === "string") {
    return typeof right === "string" ? withinLimit(left + right) : undefined;
  }
  if (left instanceof Uint) {
    return right instanceof Uint ? uintFrom(BigInt(left.value) + BigInt(right.value)) : undefined;
  }
  const first = doubleOf(left);
  if (first !== undefined) return mapDouble(right, (second) => first + second);
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length + right.length > MAX_ITEMS) return undefined;
    return [...left, ...right];
  }
  if (left instanceof Uint8Array) {
    if (!(right instanceof Uint8Array) || left.length + right.length > MAX_TEXT) return undefined;
    return new Uint8Array(Buffer.concat([left, right]));
  }
  return addTimes(left, right);
}

/** `left - right` of numbers and times. */
export function subtract(left: unknown, right: unknown): unknown {
  if (isInt(left)) {
    if (!isInt(right)) return undefined;
    if (typeof left === "number" && typeof right === "number") {
      const difference = left - right;
      if (Number.isSafeInteger(difference)) return difference;
    }
    return int(BigInt(left) - BigInt(right));
  }
  if (left instanceof Uint) {
    return right instanceof Uint ? uintFrom(BigInt(left.value) - BigInt(right.value)) : undefined;
  }
  const first = doubleOf(left);
  if (first !== undefined) return mapDouble(right, (second) => first - second);
  return subtractTimes(left, right);
}

/** `left * right` of numbers. */
export function multiply(left: unknown, right: unknown): unknown {
  if (isInt(left)) {
    if (!isInt(right)) return undefined;
    if (typeof left === "number" && typeof right === "number") {
      const product = left * right;
      // a product with zero may be -0, which is not an int
      if (Number.isSafeInteger(product)) return product + 0;
    }
    return int(BigInt(left) * BigInt(right));
  }
  if (left instanceof Uint) {
    return right instanceof Uint ? uintFrom(BigInt(left.value) * BigInt(right.value)) : undefined;
  }
  const first = doubleOf(left);
  return first === undefined ? undefined : mapDouble(right, (second) => first * second);
}

/** `left / right` of numbers; division of an int by zero is an error. */
export function divide(left: unknown, right: unknown): unknown {
  if (isInt(left)) return isInt(right) ? divideInts(left, right) : undefined;
  if (left instanceof Uint) {
    if (!(right instanceof Uint) || right.value === 0) return undefined;
    return uintFrom(BigInt(left.value) / BigInt(right.value));
  }
  const first = doubleOf(left);
  return first === undefined ? undefined : mapDouble(right, (second) => first / second);
}

/** `left % right` of ints or uints; modulo zero is an error. */
export function modulo(left: unknown, right: unknown): unknown {
  if (isInt(left)) {
    if (!isInt(right) || right === 0) return undefined;
    if (typeof left === "number" && typeof right === "number") return (left % right) + 0;
    return int(BigInt(left) % BigInt(right));
  }
  if (!(left instanceof Uint && right instanceof Uint) || right.value === 0) return undefined;
  return uintFrom(BigInt(left.value) % BigInt(right.value));
}

/** `-value` of an int or a double. */
export function negate(value: unknown): unknown {
  if (isInt(value)) return typeof value === "number" ? 0 - value : int(-value);
  const number = doubleOf(value);
  return number === undefined ? undefined : double(-number);
}

function divideInts(left: Int, right: Int): unknown {
  if (right === 0) return undefined;
  if (typeof left === "number" && typeof right === "number") return Math.trunc(left / right) + 0;
  return int(BigInt(left) / BigInt(right));
}

function mapDouble(right: unknown, combine: (second: number) => number): unknown {
  const second = doubleOf(right);
  return second === undefined ? undefined : double(combine(second));
}

function uintFrom(value: bigint): Uint | undefined {
  return uint(value);
}
