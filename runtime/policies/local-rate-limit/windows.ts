/** When what a limit gives comes back. Times in milliseconds. */
export interface Window {
  /** The clock that it goes by. */
  now(): number;
  /** When the interval begins that a first request at a moment is in. */
  begin(now: number): number;
  /** How many intervals have begun since the one that began then. */
  passed(since: number, now: number): number;
  /** When the interval begins that is so many later. */
  after(since: number, count: number): number;
}

/** Intervals from the first request on, by a clock that nobody sets. */
export function interval(length: number): Window {
  return { ...lasting(length), now: () => performance.now(), begin: (now) => now };
}

/** The same by the clock of the machine: a restart does not begin another one. */
export function clockInterval(length: number): Window {
  return { ...lasting(length), now: () => Date.now(), begin: (now) => now };
}

const DAY_LENGTH = 86_400_000;

/** Days, from midnight UTC on. */
export const calendarDays: Window = {
  ...lasting(DAY_LENGTH),
  now: () => Date.now(),
  begin: (now) => now - (now % DAY_LENGTH),
};

/** Months of the calendar, from the first one's midnight UTC on. */
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

/** Months since the year 0. */
function monthOf(time: number): number {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function monthAt(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12);
}
