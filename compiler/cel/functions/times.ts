import { declareFunctions } from "./declaration.ts";

const NINE = '"2026-03-01T09:05:07.25Z"';

function part(
  helper: string,
  doc: string,
  value: string,
  isOfDuration = false,
): Parameters<typeof declareFunctions>[0][string] {
  const name = helper;
  return {
    helper: `time/time#${helper}`,
    doc,
    signatures: [
      `timestamp.${name}(): int`,
      `timestamp.${name}(string): int`,
      ...(isOfDuration ? [`duration.${name}(): int`] : []),
    ],
    example: [`timestamp(${NINE}).${name}()`, value],
  };
}

/** Timestamps and durations. */
export const times = declareFunctions({
  timestamp: {
    helper: "values/convert#toTimestamp",
    doc: "A timestamp from an RFC 3339 string, or from seconds since 1970.",
    signatures: [
      "timestamp(timestamp): timestamp",
      "timestamp(string): timestamp",
      "timestamp(int): timestamp",
    ],
    example: ['timestamp("1970-01-01T00:01:00Z")', "timestamp(60)"],
  },
  duration: {
    helper: "values/convert#toDuration",
    doc: "A duration from a string: `1h30m`, `1.5s`, `250ms`.",
    signatures: ["duration(duration): duration", "duration(string): duration"],
    example: ['string(duration("1h30m"))', '"5400s"'],
  },
  getFullYear: part("getFullYear", "The year, in UTC or in a zone.", "2026"),
  getMonth: part("getMonth", "The month; January is 0.", "2"),
  getDate: part("getDate", "The day of the month; the first is 1.", "1"),
  getDayOfMonth: part("getDayOfMonth", "The day of the month; the first is 0.", "0"),
  getDayOfWeek: part("getDayOfWeek", "The day of the week; Sunday is 0.", "0"),
  getDayOfYear: part("getDayOfYear", "The day of the year; the first is 0.", "59"),
  getHours: part("getHours", "The hour; for a duration, its total hours.", "9", true),
  getMinutes: part("getMinutes", "The minute; for a duration, its total minutes.", "5", true),
  getSeconds: part("getSeconds", "The second; for a duration, its total seconds.", "7", true),
  getMilliseconds: part("getMilliseconds", "The milliseconds of the second.", "250", true),
});
