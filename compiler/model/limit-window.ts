/** The time in which a limit gives so much: milliseconds, or what the calendar makes of it. */
export type LimitWindow = number | "day" | "month";
