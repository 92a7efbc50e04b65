import type { JsonObject } from "../../cel/variables.ts";
import { hasRepeatedKey, isObjectAt } from "../../json/json-text.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";

/**
 * Returns the arguments of a tool call for rules; a string that describes the problem if servers could read others. Keys that
 * differ only in case count as repeated, because some servers do not distinguish them.
 */
export function callArguments(request: Message): JsonObject | string {
  const at = paramOf(request, "arguments");
  const text = at === undefined ? "null" : textAt(request.text, at);
  if (text === "null") return {};
  if (!isObjectAt(text, 0)) return "arguments must be an object";
  if (hasRepeatedKey(text, (key) => key.toLowerCase())) return "arguments have a duplicate key";
  return JSON.parse(text);
}
