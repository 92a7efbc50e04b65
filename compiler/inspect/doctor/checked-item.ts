/** Result of one check: `note` needs no action, `warning` will need some, and `failed` keeps the gateway from working. */
export type CheckStatus = "ok" | "note" | "warning" | "failed" | "skipped";

/** Groups of checks, in the order in which they are reported. */
export const CHECK_GROUPS = [
  "machine",
  "configuration",
  "environment",
  "certificates",
  "ports",
  "servers",
  "clock",
] as const;

/** One thing that `gwc doctor` checked. Contains no value of a variable and no content of a file. */
export interface CheckedItem {
  readonly group: (typeof CHECK_GROUPS)[number];
  /** Subject of the check, such as `port 3000` or `https://api.example.com`. */
  readonly name: string;
  readonly status: CheckStatus;
  /** Result in words. */
  readonly detail: string;
  /** Advice; absent if nothing is to be done. */
  readonly hint?: string;
  /** Place in the configuration, `FILE:LINE:COLUMN`; absent if there is none. */
  readonly place?: string;
  /** Time until the response; absent if nothing was asked. */
  readonly milliseconds?: number;
}
