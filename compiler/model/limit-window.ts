/** Window of a limit: milliseconds, or a calendar day or month. */
export type LimitWindow = number | "day" | "month";
