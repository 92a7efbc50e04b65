import { durationOf, timestampOf } from "./time-arithmetic.ts";
import { Duration, Timestamp } from "./time-values.ts";

/** An optional zone. */
type Zone = readonly [zone?: unknown];

/** Converts milliseconds since 1970 to a timestamp. */
export function fromMillis(millis: number | undefined): Timestamp | undefined {
  if (millis === undefined) return undefined;
  const seconds = Math.floor(millis / 1000);
  return timestampOf(seconds, Math.round((millis - seconds * 1000) * 1_000_000));
}

/** Converts seconds to a duration. */
export function fromSeconds(seconds: number | undefined): Duration | undefined {
  if (seconds === undefined) return undefined;
  const whole = Math.floor(seconds);
  return durationOf(whole, Math.round((seconds - whole) * 1_000_000_000));
}

/** `time.getFullYear()`, in UTC or a zone. */
export function getFullYear(time: unknown, ...zone: Zone): number | undefined {
  return localDate(time, ...zone)?.getUTCFullYear();
}

/** `time.getMonth()`, January is 0. */
export function getMonth(time: unknown, ...zone: Zone): number | undefined {
  return localDate(time, ...zone)?.getUTCMonth();
}

/** `time.getDate()`, the first is 1. */
export function getDate(time: unknown, ...zone: Zone): number | undefined {
  return localDate(time, ...zone)?.getUTCDate();
}

/** `time.getDayOfMonth()`, the first is 0. */
export function getDayOfMonth(time: unknown, ...zone: Zone): number | undefined {
  const date = getDate(time, ...zone);
  return date === undefined ? undefined : date - 1;
}

/** `time.getDayOfWeek()`, Sunday is 0. */
export function getDayOfWeek(time: unknown, ...zone: Zone): number | undefined {
  return localDate(time, ...zone)?.getUTCDay();
}

/** `time.getDayOfYear()`, the first of January is 0. */
export function getDayOfYear(time: unknown, ...zone: Zone): number | undefined {
  const date = localDate(time, ...zone);
  if (date === undefined) return undefined;
  const newYear = new Date(0);
  newYear.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - newYear.getTime()) / 86_400_000);
}

/** `getHours()`: the hour of a timestamp, or the whole hours of a duration. */
export function getHours(time: unknown, ...zone: Zone): number | undefined {
  return time instanceof Duration ? total(time, 3600) : localDate(time, ...zone)?.getUTCHours();
}

/** `getMinutes()`: the minute of a timestamp, or the whole minutes of a duration. */
export function getMinutes(time: unknown, ...zone: Zone): number | undefined {
  return time instanceof Duration ? total(time, 60) : localDate(time, ...zone)?.getUTCMinutes();
}

/** `getSeconds()`: the second of a timestamp, or the whole seconds of a duration. */
export function getSeconds(time: unknown, ...zone: Zone): number | undefined {
  return time instanceof Duration ? total(time, 1) : localDate(time, ...zone)?.getUTCSeconds();
}

/** `getMilliseconds()`: of the second, for timestamps and durations. */
export function getMilliseconds(time: unknown, ...zone: Zone): number | undefined {
  if (time instanceof Duration) {
    const isNegative = time.seconds < 0 && time.nanos > 0;
    const nanos = isNegative ? time.nanos - 1_000_000_000 : time.nanos;
    return Math.trunc(nanos / 1_000_000) + 0;
  }
  if (!(time instanceof Timestamp) || localDate(time, ...zone) === undefined) return undefined;
  return Math.floor(time.nanos / 1_000_000);
}

/** Returns the integer number of units in a duration. */
function total(duration: Duration, unit: number): number {
  const isRounded = duration.seconds < 0 && duration.nanos > 0;
  return Math.trunc((duration.seconds + (isRounded ? 1 : 0)) / unit) + 0;
}

/** Returns the local date and time of a zone, as if it were UTC; `undefined` for an unknown zone. */
function localDate(time: unknown, ...zones: Zone): Date | undefined {
  // a given zone that is undefined is an error
  const zone = zones.length === 0 ? "UTC" : zones[0];
  if (!(time instanceof Timestamp) || typeof zone !== "string") return undefined;
  const offset = zoneOffset(time.seconds, zone);
  return offset === undefined ? undefined : new Date((time.seconds + offset) * 1000);
}

/** Returns the offset of a zone from UTC at a time, in seconds. */
function zoneOffset(seconds: number, zone: string): number | undefined {
  if (zone === "UTC" || zone === "") return 0;
  const match = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (match === null) return namedOffset(seconds, zone);
  const [, sign, hours, minutes] = match;
  const offset = Number(hours) * 3600 + Number(minutes) * 60;
  return sign === "-" ? -offset : offset;
}

function namedOffset(seconds: number, zone: string): number | undefined {
  const format = zoneFormat(zone);
  if (format === undefined) return undefined;
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(seconds * 1000)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second);
  return local.getTime() / 1000 - seconds;
}

/** Bounded cache of zones, because requests may name zones. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 64;

function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  const known = FORMATS.get(zone);
  if (known !== undefined) return known;
  try {
    const format = new Intl.DateTimeFormat("en-US-u-ca-iso8601", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    if (FORMATS.size >= MAX_FORMATS) FORMATS.clear();
    FORMATS.set(zone, format);
    return format;
  } catch {
    return undefined;
  }
}
