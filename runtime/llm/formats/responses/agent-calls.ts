import type { JsonObject } from "../../../cel/variables.ts";
import type { TextBlock } from "../../chat/content.ts";
import type { RequestObject } from "../../chat/request-object.ts";
import { readCallInput } from "../openai-fields.ts";
import { isFilledText, parseObject } from "../parse-object.ts";
import { type AgentTool, flatName } from "./agent-tools.ts";

/** A call as other formats know it: of a function, with an object as JSON. */
export interface FlatCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** Reads an item that calls a tool; `undefined` if it is another item. Throws LlmRefusal. */
export function readAgentCall(item: RequestObject): FlatCall | undefined {
  const namespace = item.optionalText("namespace");
  switch (item.optionalText("type")) {
    case "function_call":
      return {
        id: item.text("call_id"),
        name: flatName(namespace, item.text("name")),
        input: readCallInput(item),
      };
    case "custom_tool_call":
      return {
        id: item.text("call_id"),
        name: flatName(namespace, item.text("name")),
        input: JSON.stringify({ input: item.text("input") }),
      };
    case "local_shell_call":
      return { id: idOf(item), name: "local_shell", input: textOf(item, "action") };
    case "tool_search_call":
      return { id: idOf(item), name: "tool_search", input: textOf(item, "arguments") };
    case "shell_call":
      return { id: idOf(item), name: "shell", input: textOf(item, "action") };
    case "apply_patch_call":
      return { id: idOf(item), name: "apply_patch", input: textOf(item, "operation") };
    default:
      return undefined;
  }
}

/** Returns the id of a call or an output, whose name differs. */
export function idOf(item: RequestObject): string {
  return item.optionalText("call_id") ?? item.text("id");
}

/** Reads the output of a command or a patch. */
export function readAgentOutput(item: RequestObject): readonly TextBlock[] {
  const output = item.any("output") ?? item.any("status") ?? "";
  return [{ kind: "text", text: typeof output === "string" ? output : JSON.stringify(output) }];
}

function textOf(item: RequestObject, name: string): string {
  return JSON.stringify(item.any(name) ?? {});
}

/** Writes a call of a tool as the item of its kind. `id`: of the item. */
export function agentCallItem(
  id: string,
  { id: callId, input }: Omit<FlatCall, "name">,
  { kind, name, namespace }: AgentTool,
  status: string,
): JsonObject {
  const place = namespace === undefined ? {} : { namespace };
  const start = { id, status, call_id: callId };
  switch (kind) {
    case "function":
      return { ...start, type: "function_call", name, ...place, arguments: input };
    case "custom":
      return { ...start, type: "custom_tool_call", name, ...place, input: freeText(input) };
    case "local_shell":
      return { ...start, type: "local_shell_call", action: shellAction(input) };
    case "shell": {
      const action = parseObject(input) ?? {};
      const commands = wordsOf(action.commands);
      const limits = { timeout_ms: null, max_output_length: null };
      return {
        ...{ ...start, type: "shell_call", environment: null },
        action: { ...limits, ...action, commands },
      };
    }
    case "apply_patch":
      return { ...start, type: "apply_patch_call", operation: parseObject(input) ?? {} };
    case "tool_search":
      return {
        ...start,
        type: "tool_search_call",
        execution: "client",
        arguments: parseObject(input) ?? {},
      };
  }
}

/** Returns the text for a tool with free input. Some models omit the object around it. */
export function freeText(input: string): string {
  if (input === "") return "";
  const { input: text } = parseObject(input) ?? { input };
  return isFilledText(text) ? text : "";
}

function shellAction(input: string): JsonObject {
  const { command, ...others } = parseObject(input) ?? {};
  return { env: {}, ...others, type: "exec", command: wordsOf(command) };
}

/** Returns the items of a list. Some models write a single one as a string. */
function wordsOf(list: unknown): readonly string[] {
  if (Array.isArray(list)) return list.map(String);
  return isFilledText(list) ? [list] : [];
}
