import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { parsedOrText } from "../../json/parsed-or-text.ts";
import { mapBytes } from "../../llm/chat/file-texts.ts";
import { mapKeys, mapList, mapObject } from "../../llm/chat/map-values.ts";
import type { TextPlace, WholeTexts } from "../../llm/chat/whole-texts.ts";

/** Place of what a client sends: arguments, and responses to questions of a server. */
const ARGUMENTS: TextPlace = { role: "assistant", part: "toolInput" };
/** Place of what a server sends. */
const RESULTS: TextPlace = { role: "tool", part: "toolOutput" };

/**
 * Replaces the texts in the parameters of a client's message: arguments, responses to questions, and members that MCP does not define. A URI
 * is read too, because templates put arguments into it.
 */
export function mapParams(params: JsonObject, texts: WholeTexts): JsonObject {
  return mapObject(params, (value, key) => {
    if (PLAIN_PARAMS.has(key)) return value;
    if (key === "uri" && typeof value === "string")
      return texts.replace(value, { ...ARGUMENTS, isName: true });
    if (key === "inputResponses" && isJsonObject(value))
      return mapObject(value, (each) => mapValue(each, texts, ARGUMENTS));
    return mapFree(value, texts, ARGUMENTS);
  });
}

/** Parameters that name something, or that only clients, gateways and servers read. */
const PLAIN_PARAMS: ReadonlySet<string> = new Set([
  ...["name", "ref", "cursor", "requestState", "taskId", "task", "level", "notifications"],
  ...["progressToken", "requestId", "_meta", "progress", "total"],
]);

/** Replaces the texts in a client's response to a question of a server. */
export function mapOwnResult(result: JsonObject, texts: WholeTexts): JsonObject {
  return mapMember(result, texts, ARGUMENTS);
}

/** Replaces the texts in a result or an error of a server, or in the parameters of a message that it sends. */
export function mapResult(result: JsonObject, texts: WholeTexts): JsonObject {
  return mapMember(result, texts, RESULTS);
}

function mapMember(object: JsonObject, texts: WholeTexts, place: TextPlace): JsonObject {
  const mapped = mapObject(object, (value, key) => {
    if (OPAQUE.has(key)) return value;
    if (isFile(key, object) && typeof value === "string")
      return mapBytes(value, String(object.mimeType ?? ""), (text) => texts.replace(text, place));
    if (FREE.has(key) || (key === "content" && "action" in object))
      return mapFree(value, texts, place);
    if (key === "text" && typeof value === "string")
      return texts.replace(value, { ...place, isPart: true });
    return mapValue(value, texts, place);
  });
  if (Object.keys(mapped).every((name) => /^[A-Za-z_$][\w./$-]*$/.test(name))) return mapped;
  return mapKeys(mapped, (name) => texts.replace(name, { ...place, isName: true }));
}

function mapValue(value: unknown, texts: WholeTexts, place: TextPlace): unknown {
  if (typeof value === "string") return isWord(value) ? value : texts.replace(value, place);
  if (Array.isArray(value)) return mapList(value, (each) => mapValue(each, texts, place));
  return isJsonObject(value) ? mapMember(value, texts, place) : value;
}

/** Replaces the texts of any JSON, with the names of members and numbers. */
function mapFree(value: unknown, texts: WholeTexts, place: TextPlace): unknown {
  if (value === undefined || value === null) return value;
  const text = JSON.stringify(value);
  const changed = texts.replaceJson(text, place);
  return changed === text ? value : parsedOrText(changed);
}

/** Members that may have any shape: arguments, structured results, data of logs and errors, and forms. */
const FREE: ReadonlySet<string> = new Set([
  ...["structuredContent", "arguments", "data", "requestedSchema", "metadata"],
]);

/** Members with ids, times and states that their author reads again, and addresses of pages and pictures. */
const OPAQUE: ReadonlySet<string> = new Set([
  ...["taskId", "elicitationId", "requestState", "nextCursor", "progressToken", "requestId"],
  ...["id", "toolUseId", "url", "src", "createdAt", "lastUpdatedAt", "lastModified"],
]);

/** Whether a member holds the bytes of a file in base64. */
function isFile(key: string, { type }: JsonObject): boolean {
  return key === "blob" || (key === "data" && (type === "image" || type === "audio"));
}

/** Whether a string is a word without spaces, digits and signs, as the formats have. */
function isWord(text: string): boolean {
  return /^[a-z][A-Za-z_/.+-]{0,60}$/.test(text);
}
