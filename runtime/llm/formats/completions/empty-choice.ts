import type { JsonObject } from "../../../cel/variables.ts";
import { formatWords } from "../../chat/format-words.ts";
import { mapObject } from "../../chat/map-values.ts";
import { isJsonObject } from "../../chat/request-object.ts";

/** Where calls of tools say what is wanted of them, and whether it is JSON. */
export const CALL_TEXTS = [
  ["function", "arguments", true],
  ["custom", "input", false],
] as const;

/** Whether a member is one that choices of chunks have, and is looked at as that. */
export function isOfChunk(key: string, value: unknown): boolean {
  if (key === "delta" || key === "logprobs") return isJsonObject(value) || value === null;
  if (key === "finish_reason") return value === null || formatWords.has(String(value));
  return key === "index" && typeof value === "number";
}

/** Whether a delta says nothing. */
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

/** A call with empty texts in the place of those that go on in the next chunk. */
export function withoutCallTexts(call: JsonObject): JsonObject {
  return mapObject(call, (value, name) => {
    const [, key = ""] = CALL_TEXTS.find(([part]) => part === name) ?? [];
    const hasText = isJsonObject(value) && typeof value[key] === "string";
    return hasText ? { ...value, [key]: "" } : value;
  });
}

/** Whether a choice says nothing. */
export function isEmptyChoice(choice: unknown): boolean {
  if (!isJsonObject(choice)) return true;
  if (Object.entries(choice).some(([key, value]) => !isOfChunk(key, value))) return false;
  return typeof choice.finish_reason !== "string" && isEmptyDelta(choice.delta);
}
