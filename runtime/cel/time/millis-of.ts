import { doubleOf, isInt, Uint } from "../values/values.ts";
import { Duration, Timestamp } from "./time-values.ts";

/** Converts a duration, or a number of milliseconds, to milliseconds; `undefined` for other values. */
export function millisOf(value: unknown): number | undefined {
  if (value instanceof Duration) return value.seconds * 1000 + value.nanos / 1_000_000;
  if (isInt(value)) return Number(value);
  return value instanceof Uint ? Number(value.value) : doubleOf(value);
}

/**
 * Returns the milliseconds from now to a timestamp, or to a number of seconds since 1970; negative if it has passed, and
 * `undefined` for other values.
 */
export function millisUntil(time: unknown): number | undefined {
  if (time instanceof Timestamp) return time.seconds * 1000 + time.nanos / 1_000_000 - Date.now();
  const seconds = time instanceof Duration ? undefined : millisOf(time);
  return seconds === undefined ? undefined : seconds * 1000 - Date.now();
}
