/** The header with which Anthropic's API is asked, wherever it is served: a flat list. */
export const ANTHROPIC_VERSION: readonly string[] = ["anthropic-version", "2023-06-01"];
