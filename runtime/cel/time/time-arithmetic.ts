import { Duration, Timestamp } from "./time-values.ts";

const NANOS = 1_000_000_000;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds since 1970. */
const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;
/** Range of durations: 64 bits of nanoseconds. */
const MAX_DURATION_NANOS = 2n ** 63n - 1n;

/** Creates a timestamp within the years 1 to 9999; `undefined` outside. Nanoseconds may be any integer. */
export function timestampOf(seconds: number, nanos: number): Timestamp | undefined {
  const carried = seconds + Math.floor(nanos / NANOS);
  if (!(carried >= FIRST_SECOND && carried <= LAST_SECOND)) return undefined;
  return new Timestamp(carried, modulo(nanos, NANOS));
}

/** Creates a duration within 64 bits of nanoseconds; `undefined` outside. Nanoseconds may be any integer. */
export function durationOf(seconds: number, nanos: number): Duration | undefined {
  const carried = seconds + Math.floor(nanos / NANOS);
  if (!Number.isSafeInteger(carried)) return undefined;
  const rest = modulo(nanos, NANOS);
  const total = BigInt(carried) * BigInt(NANOS) + BigInt(rest);
  if (total > MAX_DURATION_NANOS || total < -MAX_DURATION_NANOS - 1n) return undefined;
  return new Duration(carried, rest);
}

/** Returns the sum of two durations, or of a timestamp and a duration. */
export function addTimes(left: unknown, right: unknown): Timestamp | Duration | undefined {
  if (left instanceof Duration && right instanceof Duration) {
    return durationOf(left.seconds + right.seconds, left.nanos + right.nanos);
  }
  if (left instanceof Timestamp && right instanceof Duration) {
    return timestampOf(left.seconds + right.seconds, left.nanos + right.nanos);
  }
  return left instanceof Duration && right instanceof Timestamp ? addTimes(right, left) : undefined;
}

/** Returns the difference of two durations, of two timestamps, or of a timestamp and a duration. */
export function subtractTimes(left: unknown, right: unknown): Timestamp | Duration | undefined {
  if (right instanceof Duration) {
    if (left instanceof Duration) {
      return durationOf(left.seconds - right.seconds, left.nanos - right.nanos);
    }
    if (left instanceof Timestamp) {
      return timestampOf(left.seconds - right.seconds, left.nanos - right.nanos);
    }
    return undefined;
  }
  if (!(left instanceof Timestamp && right instanceof Timestamp)) return undefined;
  return durationOf(left.seconds - right.seconds, left.nanos - right.nanos);
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
