import fc from "fast-check";
import { expect, it } from "vitest";
import { Bucket } from "../../runtime/policies/local-rate-limit/bucket.ts";
import {
  calendarDays,
  calendarMonths,
  clockInterval,
  type Window,
} from "../../runtime/policies/local-rate-limit/windows.ts";

const time = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
const windows = { days: calendarDays, months: calendarMonths, hours: clockInterval(3_600_000) };

it.each(Object.entries(windows))("every moment belongs to one of the %s", (_, window) => {
  fc.assert(
    fc.property(time, time, (first, later) => {
      const since = window.begin(Math.min(first, later));
      const now = Math.max(first, later);
      const count = window.passed(since, now);
      expect(window.after(since, count)).toBeLessThanOrEqual(now);
      expect(window.after(since, count + 1)).toBeGreaterThan(now);
    }),
  );
});

it("months and days are those of the calendar, in UTC", () => {
  const silvester = Date.UTC(2027, 11, 31, 23, 59, 59, 999);
  expect(calendarMonths.begin(silvester)).toBe(Date.UTC(2027, 11));
  expect(calendarMonths.after(silvester, 1)).toBe(Date.UTC(2028, 0));
  expect(calendarMonths.after(Date.UTC(2028, 0), 2)).toBe(Date.UTC(2028, 2));
  expect(calendarMonths.passed(silvester, silvester + 1)).toBe(1);
  expect(calendarDays.begin(silvester)).toBe(Date.UTC(2027, 11, 31));
});

/** Returns a bucket of 10 with 10 per day, and its clock. */
function daily() {
  let now = Date.UTC(2027, 0, 1, 12);
  const window: Window = { ...calendarDays, now: () => now };
  const bucket = new Bucket({ capacity: 10, refill: 10, window });
  return {
    bucket,
    go: (milliseconds: number): void => {
      now += milliseconds;
    },
  };
}

const hour = 3_600_000;

it("later days pay off what is owed", () => {
  const { bucket, go } = daily();
  expect(bucket.wait()).toBe(0);
  bucket.charge(35);
  // 12 hours of this day, and two days: then 5 are available.
  expect(bucket.wait()).toBe(12 * hour + 48 * hour);
  go(12 * hour + 48 * hour - 1);
  expect(bucket.wait()).toBe(1);
  go(1);
  expect(bucket.wait()).toBe(0);
  expect(bucket.waitFor(5)).toBe(0);
  expect(bucket.waitFor(6)).toBe(24 * hour);
});

it("giving back on another day does not exceed the capacity", () => {
  const { bucket, go } = daily();
  expect(bucket.wait()).toBe(0);
  bucket.charge(10);
  go(24 * hour);
  bucket.charge(-10);
  bucket.charge(10);
  expect(bucket.wait()).toBe(12 * hour);
});

it("a clock that is set back refills nothing", () => {
  const { bucket, go } = daily();
  expect(bucket.wait()).toBe(0);
  bucket.charge(4);
  go(-100 * hour);
  expect(bucket.waitFor(6)).toBe(0);
  expect(bucket.waitFor(7)).toBeGreaterThan(0);
});
