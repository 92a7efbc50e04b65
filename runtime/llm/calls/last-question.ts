import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";

/** The text that a user sent last, and everything else of the request. */
export interface LastQuestion {
  readonly text: string;
  /** The request without the text. */
  readonly rest: JsonObject;
}

/** Maximum length of a text that is compared by meaning: longer ones exceed what models for embeddings read. */
const MAX_TEXT = 16_384;

/**
 * Returns the last text of a request for a completion in any format; `undefined` if its last message is not of a user, or if it
 * does not have exactly one text.
 */
export function lastQuestion(body: JsonObject): LastQuestion | undefined {
  const found = MEMBERS.filter((key) => body[key] !== undefined);
  const [key] = found;
  if (key === undefined || found.length > 1) return undefined;
  const given = body[key];
  const taken = typeof given === "string" ? { text: given, rest: null } : lastOf(given);
  if (taken === undefined || taken.text.trim() === "" || taken.text.length > MAX_TEXT)
    return undefined;
  return { text: taken.text, rest: { ...body, [key]: taken.rest } };
}

/** Members with the messages of a conversation. */
const MEMBERS = ["messages", "input", "contents"] as const;

interface Taken {
  readonly text: string;
  readonly rest: unknown;
}

function lastOf(messages: unknown): Taken | undefined {
  if (!Array.isArray(messages)) return undefined;
  const last: unknown = messages.at(-1);
  // Google's API has no role in requests with one message.
  if (!isJsonObject(last) || (last.role ?? "user") !== "user") return undefined;
  const taken = ofMessage(last);
  return taken && { text: taken.text, rest: [...messages.slice(0, -1), taken.rest] };
}

function ofMessage(message: JsonObject): Taken | undefined {
  const key = message.content === undefined ? "parts" : "content";
  const content = message[key];
  if (typeof content === "string") return { text: content, rest: { ...message, [key]: null } };
  if (!Array.isArray(content)) return undefined;
  const [at, another] = content.flatMap((part, index) => (textOf(part) === undefined ? [] : index));
  if (at === undefined || another !== undefined) return undefined;
  const part: unknown = content[at];
  const text = textOf(part);
  if (text === undefined || !isJsonObject(part)) return undefined;
  return { text, rest: { ...message, [key]: content.with(at, { ...part, text: null }) } };
}

function textOf(part: unknown): string | undefined {
  return isJsonObject(part) && typeof part.text === "string" ? part.text : undefined;
}
