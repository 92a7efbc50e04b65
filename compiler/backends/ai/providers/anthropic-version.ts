/** Version header that Anthropic's API requires on every platform: a flat list. */
export const ANTHROPIC_VERSION: readonly string[] = ["anthropic-version", "2023-06-01"];
