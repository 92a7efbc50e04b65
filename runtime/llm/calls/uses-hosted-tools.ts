import type { ChatCall } from "./chat-call.ts";

/** Whether a request of any format has a tool that the provider runs, such as a search of the web. */
export function usesHostedTools({ text, members }: ChatCall): boolean {
  return members.some(({ key, start, end }) => {
    const value = () => text.slice(start, end).trim();
    switch (key) {
      case "mcp_servers":
        return !/^(?:\[\s*\]|null)$/.test(value());
      case "web_search_options":
        return value() !== "null";
      case "tools":
        return HOSTED.test(value());
      default:
        return false;
    }
  });
}

const HOSTED =
  /"type"\s*:\s*"(?:web_search|code_execution)_\d|"(?:google_?[sS]earch|code_?[eE]xecution)"\s*:/;
