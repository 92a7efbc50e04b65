import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { parsedOrText } from "../../../json/parsed-or-text.ts";
import type { CodeBlock, FetchBlock, HostedBlock, McpBlock } from "../../chat/hosted-tools.ts";
import { providerText } from "../parse-object.ts";

/**
 * Reads the result of a tool that Anthropic's servers ran; none for searches of tools, which the request did not ask for.
 * `blocks`: those before it, which include its call.
 */
export function readHostedResult(
  result: JsonObject,
  blocks: readonly JsonObject[],
): readonly HostedBlock[] {
  const { type, tool_use_id: resultId, content } = result;
  const call = blocks.find((block) => block.id === resultId) ?? {};
  const id = providerText(resultId) ?? "";
  switch (type) {
    case "mcp_tool_result": {
      const server = providerText(call.server_name) ?? "";
      const name = providerText(call.name) ?? "";
      const input = JSON.stringify(call.input ?? {});
      const isError = result.is_error === true;
      const output = outputOf(content);
      return [{ kind: "hosted", tool: "mcp", id, server, name, input, output, isError }];
    }
    case "web_fetch_tool_result": {
      const { url } = isJsonObject(call.input) ? call.input : {};
      const isError = isErrorResult(content);
      return [{ kind: "hosted", tool: "fetch", id, url: providerText(url) ?? "", isError }];
    }
    case "code_execution_tool_result":
    case "bash_code_execution_tool_result":
    case "text_editor_code_execution_tool_result": {
      const output = outputOf(content);
      const isError = isErrorResult(content);
      return [{ kind: "hosted", tool: "code", id, code: codeOf(call.input), output, isError }];
    }
    default:
      return [];
  }
}

/** Returns the program of a call: Python, a command, or the change of a file as JSON. */
function codeOf(input: unknown): string {
  const { code, command, path } = isJsonObject(input) ? input : {};
  if (typeof code === "string") return code;
  if (typeof command === "string" && path === undefined) return command;
  return JSON.stringify(input ?? {});
}

/** Returns what a tool printed, with the ids of the files that it made. */
function outputOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((part) => partText(part)).join("\n");
  if (!isJsonObject(content)) return "";
  const { stdout, stderr, error_code: error, content: inner } = content;
  const files = Array.isArray(inner) ? inner.map((part) => partText(part)) : [];
  const shown = [stdout, stderr, error, ...files].filter(
    (text) => text !== undefined && text !== "",
  );
  return shown.length > 0 || stdout !== undefined ? shown.join("\n") : JSON.stringify(content);
}

function partText(part: unknown): string {
  const { text, file_id: file } = isJsonObject(part) ? part : {};
  if (typeof text === "string") return text;
  return typeof file === "string" ? `File: ${file}` : JSON.stringify(part);
}

function isErrorResult(content: unknown): boolean {
  if (!isJsonObject(content)) return false;
  const { type, return_code: code } = content;
  return String(type).endsWith("_error") || (typeof code === "number" && code !== 0);
}

/** Writes the call of a tool that another provider ran, and its result, as Anthropic's servers do. */
export function hostedBlocks(block: HostedBlock): readonly JsonObject[] {
  const id = ownId(block);
  switch (block.tool) {
    case "code":
      return codeBlocks(id, block);
    case "fetch":
      return fetchBlocks(id, block);
    case "mcp":
      return mcpBlocks(id, block);
  }
}

function ownId({ id, tool }: HostedBlock): string {
  return `${tool === "mcp" ? "mcptoolu" : "srvtoolu"}_${id.replace(/\W/g, "_")}`;
}

function codeBlocks(id: string, { code, output, isError }: CodeBlock): readonly JsonObject[] {
  const content = {
    type: "code_execution_result",
    stdout: isError ? "" : output,
    stderr: isError ? output : "",
    return_code: isError ? 1 : 0,
    content: [],
  };
  return [
    serverCall(id, "code_execution", { code }),
    { type: "code_execution_tool_result", tool_use_id: id, content },
  ];
}

function fetchBlocks(id: string, { url, isError }: FetchBlock): readonly JsonObject[] {
  const source = { type: "text", media_type: "text/plain", data: "" };
  const document = { type: "document", source, title: null, citations: null };
  const content = isError
    ? { type: "web_fetch_tool_result_error", error_code: "unavailable" }
    : { type: "web_fetch_result", url, retrieved_at: null, content: document };
  const result = { type: "web_fetch_tool_result", tool_use_id: id, content };
  return [serverCall(id, "web_fetch", { url }), { ...result, caller: { type: "direct" } }];
}

function mcpBlocks(id: string, block: McpBlock): readonly JsonObject[] {
  const { server: server_name, name, isError: is_error } = block;
  const parsed = parsedOrText(block.input);
  const input = isJsonObject(parsed) ? parsed : { arguments: parsed };
  const content = [{ type: "text", text: block.output, citations: null }];
  return [
    { type: "mcp_tool_use", id, name, server_name, input },
    { type: "mcp_tool_result", tool_use_id: id, is_error, content },
  ];
}

function serverCall(id: string, name: string, input: JsonObject): JsonObject {
  return { type: "server_tool_use", id, name, input, caller: { type: "direct" } };
}
