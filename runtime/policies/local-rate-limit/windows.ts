/** The refill intervals of a limit. Times are in milliseconds. */
export interface Window {
  /** The current time of its clock. */
  now(): number;
  /** Returns the start of the interval that a first request at this time belongs to. */
  begin(now: number): number;
  /** Returns the number of intervals that have begun since the start of another one. */
  passed(since: number, now: number): number;
  /** Returns the start of a later interval. */
  after(since: number, count: number): number;
}

/** Returns intervals from the first request on, by a monotonic clock. */
export function interval(length: number): Window {
  return { ...lasting(length), now: () => performance.now(), begin: (now) => now };
}

/** Returns such intervals by the system clock, so that they continue after a restart. */
export function clockInterval(length: number): Window {
  return { ...lasting(length), now: () => Date.now(), begin: (now) => now };
}

const DAY_LENGTH = 86_400_000;

/** Days from midnight UTC. */
export const calendarDays: Window = {
  ...lasting(DAY_LENGTH),
  now: () => Date.now(),
  begin: (now) => now - (now % DAY_LENGTH),
};

/** Calendar months in UTC. */
export const calendarMonths: Window = {
  now: () => Date.now(),
  begin: (now) => monthAt(monthOf(now)),
  passed: (since, now) => monthOf(now) - monthOf(since),
  after: (since, count) => monthAt(monthOf(since) + count),
};

function lasting(length: number): Pick<Window, "passed" | "after"> {
  return {
    passed: (since, now) => Math.floor((now - since) / length),
    after: (since, count) => since + count * length,
  };
}

/** Returns the months since the year 0. */
function monthOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function monthAt(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12);
}
