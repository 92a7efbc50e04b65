import type { JsonObject } from "../../../cel/variables.ts";
import type { ContentBlock, ToolCallBlock, ToolResultBlock } from "../../chat/content.ts";
import type { CodeBlock, McpBlock } from "../../chat/hosted-tools.ts";
import { type RequestObject, unsupportedField, wrongField } from "../../chat/request-object.ts";
import { parseObject } from "../parse-object.ts";

/** A call that OpenAI's servers ran, as a call of a function and its result. */
export interface HostedCall {
  readonly call: ToolCallBlock;
  readonly result: ToolResultBlock;
}

/** Reads an item of a call that OpenAI's servers ran; `undefined` if it is another item. Throws LlmRefusal. */
export function readHostedCall(item: RequestObject): HostedCall | undefined {
  switch (item.any("type")) {
    case "code_interpreter_call":
      return hosted(item, "code_interpreter", { code: item.any("code") }, item.any("outputs"));
    case "file_search_call":
      return hosted(item, "file_search", { queries: item.any("queries") }, item.any("results"));
    case "mcp_call": {
      const name = `${item.text("server_label")}__${item.text("name")}`;
      const input = parseObject(item.optionalText("arguments") ?? "") ?? {};
      const error = item.any("error");
      return hosted(item, name, input, error ?? item.any("output"), error !== undefined);
    }
    default:
      return undefined;
  }
}

/**
 * Reads a request to approve a call of an MCP server, as a call with a result that tells the model that it was not approved;
 * `undefined` if the call was made, which is an item of its own. Throws LlmRefusal if the call was approved but not made.
 */
export function readApprovalRequest(
  request: RequestObject,
  items: readonly RequestObject[],
): HostedCall | undefined {
  const id = request.text("id");
  const related = items.filter((item) => item.any("approval_request_id") === id);
  if (related.some((item) => item.any("type") === "mcp_call")) return undefined;
  const response = related.find((item) => item.any("type") === "mcp_approval_response");
  if (response?.boolean("approve") === true)
    throw unsupportedField(response.at("type"), "an approved call that OpenAI has not made");
  const reason = response?.optionalText("reason") ?? "";
  const name = `${request.text("server_label")}__${request.text("name")}`;
  const input = parseObject(request.optionalText("arguments") ?? "") ?? {};
  const text = `The user has not approved this call.${reason === "" ? "" : ` Reason: ${reason}`}`;
  return hosted(request, name, input, text, true);
}

/** Checks that an approval related a request. Throws LlmRefusal. */
export function checkApproval(response: RequestObject, items: readonly RequestObject[]): void {
  const id = response.text("approval_request_id");
  const isAsked = items.some(
    (item) => item.any("type") === "mcp_approval_request" && item.any("id") === id,
  );
  if (!isAsked)
    throw wrongField(response.at("approval_request_id"), "the id of a request in the input");
}

function hosted(
  item: RequestObject,
  name: string,
  input: object,
  output: unknown,
  isError = false,
): HostedCall {
  const id = item.text("id");
  const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
  return {
    call: { kind: "tool-call", id, name, input: JSON.stringify(input) },
    result: { kind: "tool-result", id, content: [{ kind: "text", text }], isError },
  };
}

/** Reads an image that OpenAI's servers generated for the model; empty if they failed. */
export function readGeneratedImage(item: RequestObject): readonly ContentBlock[] {
  const data = item.optionalText("result") ?? "";
  if (data === "") return [];
  const format = item.optionalText("output_format") ?? "png";
  return [
    { kind: "text", text: "The image that you generated:" },
    { kind: "image", source: { kind: "base64", mediaType: `image/${format}`, data } },
  ];
}

/** Returns the prefix of the ids of items for a call that another provider ran. */
export function hostedPrefix({ tool }: CodeBlock | McpBlock): "ci" | "mcp" {
  return tool === "code" ? "ci" : "mcp";
}

/** Writes a call that another provider ran as an item. */
export function hostedItem(id: string, block: CodeBlock | McpBlock): JsonObject {
  const { isError, output } = block;
  const status = isError ? "failed" : "completed";
  if (block.tool === "code") {
    const outputs = output === "" ? [] : [{ type: "logs", logs: output }];
    return {
      ...{ id, type: "code_interpreter_call", status },
      // The container is the provider's.
      ...{ container_id: "", code: block.code, outputs },
    };
  }
  const { server, name, input } = block;
  return {
    ...{ id, type: "mcp_call", status, server_label: server, name, arguments: input },
    ...{ output: isError ? null : output, error: isError ? output : null },
    approval_request_id: null,
  };
}

/** Returns the types of the events between the begin and the end of such an item, with their own members. */
export function hostedEvents(
  block: CodeBlock | McpBlock,
): readonly (readonly [string, JsonObject])[] {
  if (block.tool === "code") {
    const { code } = block;
    return [
      ["code_interpreter_call.in_progress", {}],
      ["code_interpreter_call_code.delta", { delta: code }],
      ["code_interpreter_call_code.done", { code }],
      ["code_interpreter_call.interpreting", {}],
      ["code_interpreter_call.completed", {}],
    ];
  }
  const { input, isError } = block;
  return [
    ["mcp_call.in_progress", {}],
    ["mcp_call_arguments.delta", { delta: input }],
    ["mcp_call_arguments.done", { arguments: input }],
    [isError ? "mcp_call.failed" : "mcp_call.completed", {}],
  ];
}
