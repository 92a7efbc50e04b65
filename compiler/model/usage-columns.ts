import type { USAGE_COLUMNS as Columns } from "../../runtime/store/usage-report.ts";

/** Columns that every row of usage has, and which attributes cannot be named after. */
export const RESERVED_ATTRIBUTES: Readonly<Record<(typeof Columns)[number], true>> = {
  ...{ key: true, user: true, kind: true, issuer: true },
  ...{ model: true, day: true, month: true },
};
