import type { Expression, Printable } from "./hole.ts";
import { imported } from "./names.ts";
import { binary, value } from "./syntax.ts";

const MODULE = "gwc/runtime/process/units";

const TIMES: readonly (readonly [unit: string, milliseconds: number])[] = [
  ["HOUR", 3_600_000],
  ["MINUTE", 60_000],
  ["SECOND", 1_000],
  ["MILLISECOND", 1],
];

const SIZES: readonly (readonly [unit: string, bytes: number])[] = [
  ["MiB", 1_048_576],
  ["KiB", 1_024],
];

/** Writes a duration in the largest unit that gives a whole number: `10 * SECOND`. */
export function milliseconds(amount: number): Expression {
  return inUnits(amount, TIMES);
}

/** Writes a size in the largest unit that gives a whole number: `2 * MiB`. */
export function bytes(amount: number): Expression {
  return inUnits(amount, SIZES);
}

/** Returns a field that differs from its default, as `written` writes it; `undefined` if it does not. */
export function changed(
  amount: number | undefined,
  byDefault: number | undefined,
  written: (amount: number) => Printable = (each) => each,
): Printable | undefined {
  return amount === undefined || amount === byDefault ? undefined : written(amount);
}

/** Returns the list, or `undefined` if it is empty, so that the setting is omitted. */
export function nonEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list;
}

function inUnits(
  amount: number,
  units: readonly (readonly [unit: string, size: number])[],
): Expression {
  const found = units.find(([, size]) => amount % size === 0);
  if (found === undefined || amount === 0) return value(amount);
  const [unit, size] = found;
  return binary("*", [value(amount / size), imported(MODULE, unit)]);
}
