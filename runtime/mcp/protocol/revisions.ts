/** The revision without sessions: every request says itself what it is part of. */
export const statelessRevision = "2026-07-28";

/** The newest revision with sessions. */
export const newestSessionRevision = "2025-11-25";

/** The revisions of the session era. */
export const sessionRevisions: ReadonlySet<string> = new Set([
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  newestSessionRevision,
]);
