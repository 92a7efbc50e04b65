import { type HeaderList, headerValue } from "../../../http/headers/header-list.ts";

/**
 * Returns the beta flags of a client of Anthropic's API that Claude on Bedrock knows. Bedrock refuses requests with unknown
 * flags.
 */
export function claudeBetas(headers: HeaderList): readonly string[] {
  const sent = (headerValue(headers, "anthropic-beta") ?? "").split(",");
  return sent.map((flag) => flag.trim()).filter((flag) => KNOWN.has(flag));
}

const KNOWN: ReadonlySet<string> = new Set([
  "computer-use-2025-01-24",
  "token-efficient-tools-2025-02-19",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "dev-full-thinking-2025-05-14",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "tool-search-tool-2025-10-19",
  "tool-examples-2025-10-29",
]);
