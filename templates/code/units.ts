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

/** A time in milliseconds, as so many of the largest unit that gives a whole number: `10 * SECOND`. */
export function milliseconds(amount: number): Expression {
  return inUnits(amount, TIMES);
}

/** A size in bytes: `2 * MiB`; a number of bytes that is no whole number of kibibytes is written as it is. */
export function bytes(amount: number): Expression {
  return inUnits(amount, SIZES);
}

/** A field that is not as it is by default, `written` as one of the above; undefined: it is. */
export function changed(
  amount: number | undefined,
  byDefault: number | undefined,
  written: (amount: number) => Printable = (each) => each,
): Printable | undefined {
  return amount === undefined || amount === byDefault ? undefined : written(amount);
}

/** A list setting; left out if the list is empty. */
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
