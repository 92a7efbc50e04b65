import { durationOf, timestampOf } from "./time-arithmetic.ts";
import { Duration, Timestamp } from "./time-values.ts";

const NANOS = 1_000_000_000;

const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Parses a timestamp (RFC 3339); `undefined` if it is invalid or outside of the years 1 to 9999. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour, zoneMinute] =
    match;
  const parts = [year, month, day, hour, minute, second].map(Number);
  const seconds = secondsOf(parts);
  if (seconds === undefined) return undefined;
  const [offsetHours, offsetMinutes] = [Number(zoneHour ?? 0), Number(zoneMinute ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return undefined;
  const offset = (offsetHours * 3600 + offsetMinutes * 60) * (sign === "-" ? -1 : 1);
  return timestampOf(seconds - offset, Number(fraction.padEnd(9, "0")));
}

/**
 * Returns the seconds since 1970 of a date and time in UTC; `undefined` for dates that do not exist, such as February 30.
 */
function secondsOf(parts: readonly number[]): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second;
}

/** Formats a timestamp (RFC 3339) in UTC. */
export function formatTimestamp(time: Timestamp): string {
  const whole = new Date(time.seconds * 1000).toISOString().replace(/^[+-]?0*(\d{4,})/, "$1");
  return whole.replace(/\.000Z$/, `${fractionOf(time.nanos)}Z`);
}

const UNITS: Readonly<Record<string, readonly [seconds: number, nanos: number]>> = {
  h: [3600, 0],
  m: [60, 0],
  s: [1, 0],
  ms: [0, 1_000_000],
  us: [0, 1_000],
  "\u00b5s": [0, 1_000],
  "\u03bcs": [0, 1_000],
  ns: [0, 1],
};

/** Parses a duration in Go's format, `1h30m`, `-1.5s`; `undefined` if it is invalid or too long. */
export function parseDuration(text: string): Duration | undefined {
  const body = text.replace(/^[+-]/, "");
  if (body === "0") return new Duration(0, 0);
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|\u00b5s|\u03bcs|ns))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of body.matchAll(
    /(\d*)\.?(\d*)(h|ms|m|s|us|\u00b5s|\u03bcs|ns)/g,
  )) {
    const [seconds, rest] = UNITS[unit] ?? [0, 0];
    const size = BigInt(seconds * NANOS + rest);
    nanos += BigInt(whole || "0") * size;
    if (fraction !== "") nanos += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  return durationOfNanos(text.startsWith("-") ? -nanos : nanos);
}

/** Creates a duration of nanoseconds; `undefined` beyond 64 bits. */
function durationOfNanos(nanos: bigint): Duration | undefined {
  const seconds = nanos / BigInt(NANOS);
  return durationOf(Number(seconds), Number(nanos - seconds * BigInt(NANOS)));
}

/** Formats a duration in seconds: `3600s`, `-1.5s`. */
export function formatDuration(duration: Duration): string {
  const isNegative = duration.seconds < 0;
  const [seconds, nanos] =
    isNegative && duration.nanos > 0
      ? [-(duration.seconds + 1), NANOS - duration.nanos]
      : [Math.abs(duration.seconds), duration.nanos];
  return `${isNegative ? "-" : ""}${seconds}${fractionOf(nanos)}s`;
}

function fractionOf(nanos: number): string {
  if (nanos === 0) return "";
  return `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
}

export { Timestamp };
