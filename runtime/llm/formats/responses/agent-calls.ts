import type { JsonObject } from "../../../cel/variables.ts";
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
    default:
      return undefined;
  }
}

/** Returns the id of a call or an output, whose name differs. */
export function idOf(item: RequestObject): string {
  return item.optionalText("call_id") ?? item.text("id");
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
  const words = Array.isArray(command)
    ? command.map(String)
    : isFilledText(command)
      ? [command]
      : [];
  return { env: {}, ...others, type: "exec", command: words };
}
