/** The revision without sessions: every request carries its own context. */
export const STATELESS_REVISION = "2026-07-28";

/** The newest revision with sessions. */
export const NEWEST_SESSION_REVISION = "2025-11-25";

/** The revisions of the session era. */
export const SESSION_REVISIONS: ReadonlySet<string> = new Set([
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  NEWEST_SESSION_REVISION,
]);
