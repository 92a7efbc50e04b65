import { compare } from "../values/compare.ts";
import { double, doubleOf, type Int, int, isInt, numberOf, Uint, uint } from "../values/values.ts";

const MASK_64 = 2n ** 64n - 1n;

/** `math.greatest(a, b, ...)`, or of a list; the first of equal ones. */
export function greatest(...values: readonly unknown[]): unknown {
  return extreme(values, (order) => order > 0);
}

/** `math.least(a, b, ...)`, or of a list; the first of equal ones. */
export function least(...values: readonly unknown[]): unknown {
  return extreme(values, (order) => order < 0);
}

function extreme(values: readonly unknown[], isBetter: (order: number) => boolean): unknown {
  const [only] = values;
  const numbers: readonly unknown[] = values.length === 1 && Array.isArray(only) ? only : values;
  let best = numbers[0];
  if (numberOf(best) === undefined) return undefined;
  for (const each of numbers) {
    if (numberOf(each) === undefined) return undefined;
    const order = compare(each, best);
    if (order !== undefined && isBetter(order)) best = each;
  }
  return best;
}

/** `math.ceil(double)`. */
export function ceil(value: unknown): unknown {
  return mapDouble(value, Math.ceil);
}

/** `math.floor(double)`. */
export function floor(value: unknown): unknown {
  return mapDouble(value, Math.floor);
}

/** `math.trunc(double)`. */
export function trunc(value: unknown): unknown {
  return mapDouble(value, Math.trunc);
}

/** `math.round(double)`: halves are rounded away from zero. */
export function round(value: unknown): unknown {
  return mapDouble(value, (number) => {
    const whole = Math.trunc(number);
    return Math.abs(number - whole) >= 0.5 ? whole + Math.sign(number) : whole;
  });
}

/** `math.sqrt(number)`: NaN for negative numbers. */
export function sqrt(value: unknown): unknown {
  const number = numberOf(value);
  return number === undefined ? undefined : double(Math.sqrt(Number(number)));
}

/** `math.abs(number)`; an error for the smallest int. */
export function abs(value: unknown): unknown {
  if (isInt(value))
    return typeof value === "number" ? Math.abs(value) : int(value < 0n ? -value : value);
  return value instanceof Uint ? value : mapDouble(value, Math.abs);
}

/** `math.sign(number)`: -1, 0 or 1 of the number's type. */
export function sign(value: unknown): unknown {
  if (isInt(value)) return value > 0 ? 1 : value < 0 ? -1 : 0;
  if (value instanceof Uint) return new Uint(value.value === 0 ? 0 : 1);
  return mapDouble(value, Math.sign);
}

/** `math.isNaN(double)`. */
export function isNotANumber(value: unknown): boolean | undefined {
  const number = doubleOf(value);
  return number === undefined ? undefined : Number.isNaN(number);
}

/** `math.isInf(double)`. */
export function isInfinite(value: unknown): boolean | undefined {
  const number = doubleOf(value);
  return number === undefined ? undefined : Math.abs(number) === Number.POSITIVE_INFINITY;
}

/** `math.isFinite(double)`. */
export function isFiniteNumber(value: unknown): boolean | undefined {
  const number = doubleOf(value);
  return number === undefined ? undefined : Number.isFinite(number);
}

/** `math.bitAnd(a, b)`. */
export function bitAnd(left: unknown, right: unknown): unknown {
  return combineBits(left, right, (first, second) => first & second);
}

/** `math.bitOr(a, b)`. */
export function bitOr(left: unknown, right: unknown): unknown {
  return combineBits(left, right, (first, second) => first | second);
}

/** `math.bitXor(a, b)`. */
export function bitXor(left: unknown, right: unknown): unknown {
  return combineBits(left, right, (first, second) => first ^ second);
}

/** `math.bitNot(number)`. */
export function bitNot(value: unknown): unknown {
  if (isInt(value)) return int(~BigInt(value));
  return value instanceof Uint ? uint(~BigInt(value.value) & MASK_64) : undefined;
}

/** `math.bitShiftLeft(number, count)`: bits beyond 64 are lost; a negative count is an error. */
export function bitShiftLeft(value: unknown, count: unknown): unknown {
  return shift(value, count, (bits, by) => bits << by);
}

/** `math.bitShiftRight(number, count)`: fills with zeros, for negative ints too. */
export function bitShiftRight(value: unknown, count: unknown): unknown {
  return shift(value, count, (bits, by) => (bits & MASK_64) >> by);
}

function mapDouble(value: unknown, change: (number: number) => number): unknown {
  const number = doubleOf(value);
  return number === undefined ? undefined : double(change(number));
}

function combineBits(
  left: unknown,
  right: unknown,
  combine: (first: bigint, second: bigint) => bigint,
): unknown {
  if (isInt(left) && isInt(right)) return int(combine(BigInt(left), BigInt(right)));
  if (!(left instanceof Uint && right instanceof Uint)) return undefined;
  return uint(combine(BigInt(left.value), BigInt(right.value)));
}

function shift(
  value: unknown,
  count: unknown,
  move: (bits: bigint, by: bigint) => bigint,
): Int | Uint | undefined {
  if (!isInt(count) || count < 0) return undefined;
  // shifting by more than 63 bits leaves nothing
  const by = count > 64 ? 64n : BigInt(count);
  if (isInt(value)) return int(BigInt.asIntN(64, move(BigInt(value), by)));
  return value instanceof Uint
    ? uint(BigInt.asUintN(64, move(BigInt(value.value), by)))
    : undefined;
}
