import type { ChatCall } from "./chat-call.ts";

/** Whether a chat completion has tools, and reasoning is not turned off. */
export function reasonsWithTools({ text, members }: ChatCall): boolean {
  let hasTools = false;
  for (const { key, start, end } of members) {
    const value = () => text.slice(start, end).trim();
    if (key === "reasoning_effort" && value() === '"none"') return false;
    if (key === "tools") hasTools = !/^(?:\[\s*\]|null)$/.test(value());
  }
  return hasTools;
}
