import type { ToolCallBlock, ToolResultBlock } from "../../chat/content.ts";
import type { RequestObject } from "../../chat/request-object.ts";

/** Returns a call that Anthropic's servers ran as a call of a function; `undefined` for other blocks. */
export function hostedCall(block: RequestObject): ToolCallBlock | undefined {
  const type = block.any("type");
  if (type !== "server_tool_use" && type !== "mcp_tool_use") return undefined;
  const server = type === "mcp_tool_use" ? `${block.text("server_name")}__` : "";
  return {
    kind: "tool-call",
    id: block.text("id"),
    name: `${server}${block.text("name")}`,
    input: JSON.stringify(block.any("input") ?? {}),
  };
}

/** Returns the result of such a call, as text: pages, output of programs, results of tools; `undefined` for other blocks. */
export function hostedResult(block: RequestObject): ToolResultBlock | undefined {
  const type = block.any("type");
  if (typeof type !== "string" || type === "tool_result" || !type.endsWith("_tool_result")) {
    return undefined;
  }
  return {
    kind: "tool-result",
    id: block.text("tool_use_id"),
    content: textsOf(block.any("content")).map((text) => ({ kind: "text", text })),
    isError: block.boolean("is_error") ?? false,
  };
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [JSON.stringify(content ?? null)];
  return content.map((part) => {
    const { type, text } = Object(part);
    return type === "text" && typeof text === "string" ? text : JSON.stringify(part);
  });
}

/**
 * Whether a block belongs to a search of the server for pages or tools. Pages are part of the model's text, and without the
 * search all tools are listed.
 */
export function isSearchBlock(block: RequestObject): boolean {
  const { type, name } = { type: block.any("type"), name: block.any("name") };
  if (type === "web_search_tool_result" || type === "tool_search_tool_result") return true;
  return type === "server_tool_use" && (name === "web_search" || isToolSearch(String(name)));
}

/** Whether a name or type is that of Anthropic's search for tools, in any of its versions. */
export function isToolSearch(name: string): boolean {
  return /^tool_search_tool_(?:regex|bm25)(?:_\d+)?$/.test(name);
}
