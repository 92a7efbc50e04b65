import type { Period } from "./store.ts";

/** Start and end of a period, in milliseconds since the epoch. */
export interface PeriodBounds {
  readonly start: number;
  readonly end: number;
}

const LENGTHS = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** Returns the period, in UTC, that a time belongs to. */
export function periodAt(period: Period, time: number): PeriodBounds {
  if (period === "month") {
    const date = new Date(time);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  }
  const length = LENGTHS[period];
  const start = time - (time % length);
  return { start, end: start + length };
}
