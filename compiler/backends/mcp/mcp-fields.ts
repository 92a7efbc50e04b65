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

/** Schemas of `prefixMode`. */
export const prefixWords = wordsOfForms(
  "Whether names of tools and prompts are prefixed with the target's name: only if there are several targets, always, or never. Without prefixes, the gateway asks the targets which one has an item; of several, the first one owns it, and the others' are hidden with a warning. URIs of resources keep their prefix.",
  ["conditional", "always", "never"],
  "conditional",
);
