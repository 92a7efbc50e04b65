import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { FORMAT_WORDS } from "../../chat/format-words.ts";
import { mapObject } from "../../chat/map-values.ts";

/** Members of a tool call with its input, and whether that is JSON. */
export const CALL_TEXTS = [
  ["function", "arguments", true],
  ["custom", "input", false],
] as const;

/** Whether a member is defined for choices of chunks, and is handled as such. */
export function isOfChunk(key: string, value: unknown): boolean {
  if (key === "delta" || key === "logprobs") return isJsonObject(value) || value === null;
  if (key === "finish_reason") return value === null || FORMAT_WORDS.has(String(value));
  return key === "index" && typeof value === "number";
}

/** Whether a delta has no content. */
function isEmptyDelta(delta: unknown): boolean {
  if (!isJsonObject(delta)) return true;
  return Object.keys(delta).every((key) => {
    const value = delta[key];
    if (key !== "tool_calls" || !Array.isArray(value)) return value === "" || value === null;
    return value.every((call) => isJsonObject(call) && call.id === undefined && isEmptyCall(call));
  });
}

function isEmptyCall(call: JsonObject): boolean {
  return CALL_TEXTS.every(([part, key]) => {
    const object = call[part];
    return !isJsonObject(object) || (object.name === undefined && object[key] === "");
  });
}

/** Returns a call with empty texts instead of those that the next chunk may continue. */
export function withoutCallTexts(call: JsonObject): JsonObject {
  return mapObject(call, (value, name) => {
    const [, key = ""] = CALL_TEXTS.find(([part]) => part === name) ?? [];
    const hasText = isJsonObject(value) && typeof value[key] === "string";
    return hasText ? { ...value, [key]: "" } : value;
  });
}

/** Whether a choice has no content. */
export function isEmptyChoice(choice: unknown): boolean {
  if (!isJsonObject(choice)) return true;
  if (Object.entries(choice).some(([key, value]) => !isOfChunk(key, value))) return false;
  return typeof choice.finish_reason !== "string" && isEmptyDelta(choice.delta);
}
