import type { JsonObject } from "../cel/variables.ts";
import { receivedObjects } from "../http/body/received-objects.ts";
import { isJsonObject } from "../json/json-object.ts";
import { parsedOrText } from "../json/parsed-or-text.ts";

/** A tool that a model calls, as `llm.toolCalls` shows it. */
interface ShownToolCall extends JsonObject {
  readonly id: string;
  readonly name: string;
  /** Parsed; the string itself if it is not JSON. */
  readonly arguments: unknown;
}

/** A tool call whose arguments arrive in pieces. */
interface PartialCall {
  readonly id: unknown;
  readonly name: unknown;
  text: string;
  value?: unknown;
}

/**
 * Returns the tool calls of a completion from a response to a client: Chat Completions, Responses or Messages, whole or a
 * stream. `undefined` if the model calls no tool.
 */
export function completionToolCalls(body: Uint8Array): readonly ShownToolCall[] | undefined {
  const { whole, parts } = receivedObjects(body);
  const calls = whole === undefined ? streamedCalls(parts) : wholeCalls(whole);
  return calls.length === 0 ? undefined : calls.slice(0, MAX_CALLS).map(shown);
}

/** Maximum number of tool calls that are shown. */
const MAX_CALLS = 128;

function wholeCalls({ choices, content, output }: JsonObject): readonly PartialCall[] {
  const messages = objects(choices).map(({ message }) => message);
  return [
    ...messages.filter(isJsonObject).flatMap(({ tool_calls }) => objects(tool_calls).map(ofChat)),
    ...objects(content).flatMap(ofBlock),
    ...objects(output).flatMap(ofItem),
  ];
}

function ofChat({ id, function: called }: JsonObject): PartialCall {
  const { name, arguments: text } = isJsonObject(called) ? called : {};
  return { id, name, text: typeof text === "string" ? text : "" };
}

function ofBlock({ type, id, name, input }: JsonObject): readonly PartialCall[] {
  return type === "tool_use" ? [{ id, name, text: "", value: input }] : [];
}

function ofItem({ type, call_id: id, name, arguments: text }: JsonObject): readonly PartialCall[] {
  return type === "function_call" ? [{ id, name, text: typeof text === "string" ? text : "" }] : [];
}

/** Joins the pieces of a stream by the index of their call. */
function streamedCalls(events: readonly JsonObject[]): readonly PartialCall[] {
  const calls = new Map<string, PartialCall>();
  const add = (key: string, call: PartialCall): void => {
    const known = calls.get(key);
    if (known === undefined) calls.set(key, call);
    else known.text += call.text;
  };
  for (const event of events) {
    for (const { index: choice, delta } of objects(event.choices)) {
      const { tool_calls } = isJsonObject(delta) ? delta : {};
      for (const call of objects(tool_calls)) add(`${choice}.${call.index}`, ofChat(call));
    }
    if (event.type === "response.output_item.done" && isJsonObject(event.item))
      for (const call of ofItem(event.item)) add(`item ${calls.size}`, call);
    if (event.type === "content_block_start" && isJsonObject(event.content_block))
      for (const { value: _, ...call } of ofBlock(event.content_block))
        add(`block ${event.index}`, call);
    if (event.type === "content_block_delta" && isJsonObject(event.delta)) {
      const { partial_json: piece } = event.delta;
      const known = calls.get(`block ${event.index}`);
      if (known !== undefined && typeof piece === "string") known.text += piece;
    }
  }
  return [...calls.values()];
}

function shown({ id, name, text, value }: PartialCall): ShownToolCall {
  return {
    id: typeof id === "string" ? id : "",
    name: typeof name === "string" ? name : "",
    arguments: value ?? (text === "" ? {} : parsedOrText(text)),
  };
}

function objects(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
