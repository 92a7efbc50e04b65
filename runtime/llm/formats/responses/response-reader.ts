import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { HostedBlock } from "../../chat/hosted-tools.ts";
import type { ChatResponse, ResponseBlock, StopReason } from "../../chat/response.ts";
import { markEncrypted } from "../openai-reasoning.ts";
import { isFilledText, providerText } from "../parse-object.ts";
import { withTier } from "../service-tiers.ts";
import { citing, readPages } from "../web-pages.ts";
import { readResponsesUsage } from "./usage.ts";

/** Reads a whole response of the Responses API. Throws if it failed or has another shape. */
export function readResponsesResponse(body: JsonObject): ChatResponse {
  if (!Array.isArray(body.output)) throw new Error("no output in the response");
  if (body.status === "failed" || body.status === "cancelled")
    throw new Error("the response has failed");
  const blocks = body.output.filter(isJsonObject).flatMap(blocksOf);
  return {
    id: providerText(body.id),
    model: providerText(body.model) ?? "",
    blocks,
    stop: readEnd(
      body,
      blocks.some(({ kind }) => kind === "tool-call"),
    ),
    stopSequence: undefined,
    usage: withTier(readResponsesUsage(body.usage), "openai", body.service_tier),
  };
}

/** Reads an item of the output. Throws if it is not known, because content would be lost. */
export function blocksOf(item: JsonObject): readonly ResponseBlock[] {
  switch (item.type) {
    case "message":
      return textsOf(item.content);
    case "function_call":
      return [
        {
          kind: "tool-call",
          id: providerText(item.call_id) ?? providerText(item.id) ?? "",
          name: providerText(item.name) ?? "",
          input: isFilledText(item.arguments) ? item.arguments : "{}",
        },
      ];
    case "reasoning": {
      const text = reasoningText(item);
      const signature = encryptedOf(item);
      return text === "" && signature === undefined ? [] : [{ kind: "reasoning", text, signature }];
    }
    case "web_search_call":
      return searchOf(item);
    case "code_interpreter_call":
    case "mcp_call":
      return [hostedOf(item)];
    default:
      if (isServerCall(item.type)) return [];
      throw new Error(`the response has an item of type "${item.type}"`);
  }
}

/** Reads a search; none if the model has only opened a page. */
function searchOf({ id, action }: JsonObject): readonly ResponseBlock[] {
  if (!isJsonObject(action) || action.type !== "search") return [];
  const query = providerText(action.query) ?? "";
  return [{ kind: "search", id: providerText(id) ?? "", query, pages: readPages(action.sources) }];
}

/** Reads a program that the server ran, or a call of a tool of an MCP server. */
function hostedOf(item: JsonObject): HostedBlock {
  const isError =
    item.status === "failed" || item.status === "incomplete" || isFilledText(item.error);
  const block = { kind: "hosted", id: providerText(item.id) ?? "", isError } as const;
  if (item.type === "code_interpreter_call") {
    const outputs = Array.isArray(item.outputs) ? item.outputs.filter(isJsonObject) : [];
    const output = outputs.map(({ logs, url }) => logs ?? `Image: ${url}`).join("\n");
    return { ...block, tool: "code", code: providerText(item.code) ?? "", output };
  }
  return {
    ...block,
    tool: "mcp",
    server: providerText(item.server_label) ?? "",
    name: providerText(item.name) ?? "",
    input: isFilledText(item.arguments) ? item.arguments : "{}",
    output: isError ? String(item.error ?? "") : (providerText(item.output) ?? ""),
  };
}

function textsOf(content: unknown): readonly ResponseBlock[] {
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return parts.flatMap(({ text, refusal, annotations }) => {
    if (isFilledText(text)) return [{ kind: "text", text, ...citing(readPages(annotations)) }];
    return isFilledText(refusal) ? [{ kind: "text", text: refusal, isRefusal: true }] : [];
  });
}

/** Returns the readable reasoning of an item: its summary, or what open models show instead. */
export function reasoningText({ summary, content }: JsonObject): string {
  const parts = [summary, content].flatMap((list) => (Array.isArray(list) ? list : []));
  const texts = parts.map((part) => (isJsonObject(part) ? part.text : undefined));
  return texts.filter(isFilledText).join("\n\n");
}

/** Returns the signature of reasoning that the server expects back; `undefined` if it is not encrypted. */
export function encryptedOf({ id, encrypted_content: content }: JsonObject): string | undefined {
  return isFilledText(content) ? markEncrypted({ id: providerText(id) ?? "", content }) : undefined;
}

/** Whether the server has run a tool of its own: its results are part of the model's text. */
function isServerCall(type: unknown): boolean {
  return typeof type === "string" && SERVER_CALLS.has(type);
}

const SERVER_CALLS: ReadonlySet<string> = new Set([
  ...["file_search_call", "mcp_list_tools", "compaction"],
]);

/** Reads the end of a response. */
export function readEnd(
  { status, incomplete_details: details }: JsonObject,
  hasCalls: boolean,
): StopReason {
  if (status === "incomplete") {
    const reason = isJsonObject(details) ? details.reason : undefined;
    return reason === "content_filter" ? "filtered" : "length";
  }
  return hasCalls ? "tool-calls" : "end";
}
