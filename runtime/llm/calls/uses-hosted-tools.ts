import type { ChatCall } from "./chat-call.ts";

/** Whether a request of Anthropic's or Google's format has a tool that the provider runs, such as a search of the web. */
export function usesHostedTools({ text, members }: ChatCall): boolean {
  return members.some(({ key, start, end }) => {
    if (key === "mcp_servers") return !/^(?:\[\s*\]|null)$/.test(text.slice(start, end).trim());
    return key === "tools" && HOSTED.test(text.slice(start, end));
  });
}

const HOSTED =
  /"type"\s*:\s*"(?:web_search|code_execution)_\d|"(?:google_?[sS]earch|code_?[eE]xecution)"\s*:/;
