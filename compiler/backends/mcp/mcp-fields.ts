import { wordsOfForms } from "../../schema/two-forms.ts";

/** Schemas of sessions: `statefulMode` in files, `sessionRouting` in manifests. */
export const sessionMode = wordsOfForms(
  "Whether clients have sessions. Without them, each request opens and ends a session with each server that it goes to: any replica can serve any request, but servers cannot send requests or notifications to clients, nor keep state.",
  ["stateful", "stateless"],
  "stateful",
);

/** Schemas of `era`. */
export const eraWords = wordsOfForms(
  "Revisions of MCP that the server supports: those with sessions (up to 2025-11-25), or the stateless one (2026-07-28). Detected by default.",
  ["auto", "sessions", "stateless"],
  { file: "auto" },
);

/** Description of `targets`. */
export const TARGETS = "MCP servers of this endpoint, whose items clients see together.";

/** Schemas of `failureMode`. */
export const targetFailureMode = wordsOfForms(
  "Effect of a failing target: requests fail, or the other targets respond without it.",
  ["failClosed", "failOpen"],
  { file: "failClosed" },
);
