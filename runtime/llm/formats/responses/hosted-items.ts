import type { ContentBlock, ToolCallBlock, ToolResultBlock } from "../../chat/content.ts";
import type { RequestObject } from "../../chat/request-object.ts";
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
