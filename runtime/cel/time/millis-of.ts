import { doubleOf, isInt, Uint } from "../values/values.ts";
import { Duration, type Timestamp } from "./time-values.ts";

/** Converts a duration, or a number of milliseconds, to milliseconds; `undefined` for other values. */
export function millisOf(value: unknown): number | undefined {
  if (value instanceof Duration) return value.seconds * 1000 + value.nanos / 1_000_000;
  if (isInt(value)) return Number(value);
  return value instanceof Uint ? Number(value.value) : doubleOf(value);
}

/** Returns the milliseconds from now to a point in time; negative if it has passed. */
export function millisUntil({ seconds, nanos }: Timestamp): number {
  return seconds * 1000 + nanos / 1_000_000 - Date.now();
}
