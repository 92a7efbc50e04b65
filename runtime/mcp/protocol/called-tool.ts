import { isObjectAt, stringAt } from "../../json/json-text.ts";
import { type Message, textAt } from "./message.ts";
import { edited, paramOf, replaced, stringParamOf } from "./message-edit.ts";
import { readFields } from "./message-fields.ts";

/**
 * Returns the call that a message is for: calls of the tool `by` name another tool in their arguments, with its arguments.
 * Other messages are returned as they are. Returns a string that describes the problem if the arguments are malformed.
 */
export function calledTool(message: Message, by: string): Message | string {
  const { text, method } = message;
  const nameAt = paramOf(message, "name");
  if (method !== "tools/call" || nameAt === undefined || stringAt(text, nameAt) !== by)
    return message;
  const at = paramOf(message, "arguments");
  if (at === undefined || !isObjectAt(text, at.start)) return "arguments must be an object";
  const fields = readFields(text, at.start, CALL_FIELDS);
  if (typeof fields === "string") return `arguments: ${fields}`;
  const name = fields.get("name");
  if (name === undefined || stringAt(text, name) === undefined)
    return "arguments.name must be a string";
  const given = fields.get("arguments");
  const hasNone = given === undefined || textAt(text, given) === "null";
  if (!hasNone && !isObjectAt(text, given.start)) return "arguments.arguments must be an object";
  return edited(message, [
    replaced(nameAt, textAt(text, name)),
    replaced(at, hasNone ? "{}" : textAt(text, given)),
  ]);
}

/** Returns the call that a message stands for; itself if its arguments are malformed, so that the endpoint refuses it. */
export function meantCall(message: Message, callers: readonly string[] = []): Message {
  return callers.reduce((call, caller) => {
    const meant = calledTool(call, caller);
    return typeof meant === "string" ? call : meant;
  }, message);
}

/** Returns the name of the tool that a request calls; `undefined` if it calls none. */
export function calledName(message: Message): string | undefined {
  const isCall = message.kind === "request" && message.method === "tools/call";
  return isCall ? stringParamOf(message, "name") : undefined;
}

const CALL_FIELDS: ReadonlySet<string> = new Set(["name", "arguments"]);
