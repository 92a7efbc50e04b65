import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { mapFile } from "./file-texts.ts";
import { FORMAT_WORDS } from "./format-words.ts";
import { mapKeys, mapList, mapObject } from "./map-values.ts";
import { MEMBER_WORDS } from "./member-words.ts";
import { mapJson, mapSchema } from "./schema-texts.ts";
import type { SimpleKeys } from "./simple-keys.ts";
import type { TextPlace, WholeTexts } from "./whole-texts.ts";

/** Texts of a format that a model reads, or a user sees. */
export interface TextFormat {
  /**
   * Returns the field of a request whose texts are in a form that cannot be read; absent if no field of the format can be.
   */
  unreadable?(body: JsonObject): string | undefined;
  /** Keys of simple requests and whole responses, whose strings are checked before they are parsed; absent if none are. */
  readonly simple?: { readonly request: SimpleKeys; readonly response: SimpleKeys };
  /** Members of a request with texts in them, at any depth. */
  readonly request: readonly string[];
  /** Its other members. A member in neither list may be text to some server, and is guarded as text. */
  readonly plain: ReadonlySet<string>;
  /** Members of a whole response with texts in them. */
  readonly response: readonly string[];
  /** Its other members, among those of objects with texts. A member in neither list is guarded. */
  readonly plainResponse: ReadonlySet<string>;
  /** Removes members of a masked response that repeat its texts in pieces; absent if none does. */
  withoutCopies?(body: JsonObject): JsonObject;
  /** Guards the texts of one stream. */
  openStream(texts: TextGuards): StreamTexts;
}

/** Replaces the texts of a stream. */
export interface TextGuards extends WholeTexts {
  /** Opens a guard for a text that arrives in pieces. */
  open(): PieceGuard;
  /** Opens a guard for JSON arguments of a tool that arrive in pieces. */
  openJson(): PieceGuard;
  /** Opens a guard for consecutive texts of one role, each in pieces. A match may span several of them. */
  openParts(): PartsGuard;
  /**
   * Replaces a text of an event that may continue in a later one with the same `mark`. The text does not wait; the rest of a
   * match that continues is replaced. Absent: each text is separate.
   */
  carry?(text: string, place: TextPlace, mark: string): string;
}

/** Guards one text that arrives in pieces; may hold back its end. */
export interface PieceGuard {
  push(piece: string): string;
  /** Returns the rest at the end of the text. */
  end(): string;
}

/**
 * Guards one text in parts, each of which arrives in pieces. Output is a list of strings: the first belongs to the first
 * part that still waits, or to the current one; each further one to the part after it.
 */
export interface PartsGuard {
  push(piece: string): readonly string[];
  /** Ends the current part: the next piece belongs to the next one. */
  next(): readonly string[];
  /** Returns the text held back, as if the text ended there. The rest of a match that continues is replaced, too. */
  release(): readonly string[];
  /** Returns the rest at the end of the text. */
  end(): readonly string[];
}

/** Guards the events of one stream of a format. */
export interface StreamTexts {
  /** Returns the client's output for an event. */
  see(event: Buffer): readonly (string | Buffer)[];
  /** Returns the text held back when the stream is aborted. */
  end(): readonly (string | Buffer)[];
}

/** Place of a model's output. */
export const MODEL_PLACE: TextPlace = { role: "assistant", part: "messages" };

/** Returns the members of a request to guard: those with texts, and those that its API does not define. */
export function textMembers(body: JsonObject, { request, plain }: TextFormat): readonly string[] {
  const unknown = Object.keys(body).filter((key) => !plain.has(key) && !request.includes(key));
  return unknown.length === 0 ? request : [...request, ...unknown];
}

/** Returns the members of a response to guard: those with texts, and those that its API does not define. */
export function responseMembers(
  body: JsonObject,
  { response, plainResponse }: TextFormat,
): readonly string[] {
  const unknown = Object.keys(body).filter(
    (key) => !plainResponse.has(key) && !response.includes(key),
  );
  return unknown.length === 0 ? response : [...response, ...unknown];
}

/** Replaces the texts of members, and names that no API defines; returns the object itself if nothing changes. */
export function mapMembers(
  body: JsonObject,
  keys: readonly string[],
  texts: WholeTexts,
): JsonObject {
  let mapped = body;
  for (const key of keys) {
    const value = body[key];
    if (value === undefined) continue;
    const place = MEMBER_PLACES[key];
    // Its keys come from the client, too.
    const isFree = key === "metadata" && isJsonObject(value);
    const next = isFree
      ? mapJson(value, texts, place ?? MODEL_PLACE)
      : mapTexts(value, texts, place, true);
    if (next !== value) mapped = { ...mapped, [key]: next };
  }
  const nameOf = (name: string): string => guardedName(name, texts, MODEL_PLACE);
  return keys.every((key) => MEMBER_WORDS.has(key)) ? mapped : mapKeys(mapped, nameOf);
}

/** Replaces the names of members at any depth that no API defines; returns the object itself if nothing changes. */
export function mapNames(object: JsonObject, texts: WholeTexts): JsonObject {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return mapList(value, inside);
    return isJsonObject(value) ? mapNames(value, texts) : value;
  };
  const mapped = mapObject(object, inside);
  if (Object.keys(mapped).every((name) => MEMBER_WORDS.has(name))) return mapped;
  return mapKeys(mapped, (name) => guardedName(name, texts, MODEL_PLACE));
}

/** Returns a member's name after guards; words of the format pass. */
function guardedName(name: string, texts: WholeTexts, place: TextPlace): string {
  return MEMBER_WORDS.has(name) ? name : texts.replace(name, { ...place, isName: true });
}

/** Members of requests and responses whose texts are not the model's own by default. */
const MEMBER_PLACES: Readonly<Record<string, TextPlace>> = {
  ...Object.fromEntries(
    ["system", "instructions", "tools", "functions", "response_format", "text", "output_config"]
      .concat(["output_format", "web_search_options", "stop", "stop_sequences", "metadata"])
      .concat(["tool_choice", "function_call", "mcp_servers"])
      .concat(["systemInstruction", "system_instruction", "toolConfig", "generationConfig"])
      .concat(["inferenceConfig", "outputConfig", "additionalModelRequestFields"])
      .map((key) => [key, { role: "system", part: "systemPrompt" }]),
  ),
  ...Object.fromEntries(
    ["input", "messages", "prompt", "contents"].map((key) => [
      key,
      { role: "user", part: "messages" },
    ]),
  ),
};

/**
 * Replaces the texts of a value; returns the value itself if nothing changes. `place`: place of texts that do not declare
 * one. `withNames`: also replaces member names that no API defines.
 */
export function mapTexts(
  value: unknown,
  texts: WholeTexts,
  place: TextPlace = MODEL_PLACE,
  withNames = false,
): unknown {
  const visit = (each: unknown, key: string, parent: JsonObject, at: TextPlace): unknown => {
    if (typeof each === "string") {
      if (key === "arguments") return texts.replaceJson(each, { ...at, part: "toolInput" });
      if (isName(key, each)) return texts.replace(each, { ...at, isName: true }, key);
      if (!isText(key, parent)) {
        return mapFile(each, key, parent, (text) => texts.replace(text, at, key));
      }
      return texts.replace(each, PARTS.has(key) ? { ...at, isPart: true } : at, key);
    }
    // Tokens would reveal what is masked.
    if (TOKENS.has(key) && typeof each === "object" && each !== null) return withoutTokens(each);
    if (Array.isArray(each)) return mapList(each, (item) => visit(item, key, parent, at));
    if (!isJsonObject(each)) return each;
    // Credentials for the server of a tool.
    if (key === "headers" && parent.type === "mcp") return each;
    if (isSchema(key, at)) return mapSchema(each, texts, at);
    if (key === "json") return mapJson(each, texts, at);
    const free = FREE_MEMBERS[key];
    if (free !== undefined && isJsonObject(each[free.member])) {
      return mapObject(each, (member, name) =>
        name === free.member && isJsonObject(member)
          ? mapJson(member, texts, free.place)
          : visit(member, name, each, free.place),
      );
    }
    if (isToolInput(key, parent)) {
      // A client's input that was not an object, wrapped into one.
      if (typeof each.arguments === "string" && Object.keys(each).length === 1) {
        return mapObject(each, (text, name) => visit(text, name, each, at));
      }
      return mapJson(each, texts, { ...at, part: "toolInput" });
    }
    // Variables of a stored prompt: their values are inserted into the prompt, whatever their names.
    const areVariables = key === "variables";
    const own = areVariables ? at : placeOf(each, key, at);
    const mapped = mapObject(each, (member, name) =>
      areVariables
        ? visit(member, "", {}, own)
        : visit(member, name, each, placeOfMember(name, own)),
    );
    if (!withNames || Object.keys(each).every((name) => MEMBER_WORDS.has(name))) return mapped;
    return mapKeys(mapped, (name) => guardedName(name, texts, own));
  };
  return visit(value, "", {}, place);
}

/** Members with the tokens of a text. */
const TOKENS: ReadonlySet<string> = new Set(["logprobs", "logprobsResult"]);

/** Removes the tokens of log probabilities. */
function withoutTokens(logprobs: unknown): unknown {
  if (!Array.isArray(logprobs)) return null;
  return logprobs.length === 0 ? logprobs : [];
}

/** Returns the place of an object's texts: messages have a role; inputs and outputs of tools have a type. */
function placeOf({ type, role }: JsonObject, key: string, around: TextPlace): TextPlace {
  if (key === "toolResult") return TOOL_OUTPUT;
  const isCall = key === "custom" || key === "action";
  if (isCall && around.part === "messages") return { ...around, part: "toolInput" };
  if (typeof type === "string") {
    if (/(?:tool_result|_output)$/.test(type) && type !== "output") return TOOL_OUTPUT;
    if (/(?:tool_use|_call)$/.test(type)) return TOOL_INPUT;
  }
  if (typeof role !== "string") return around;
  if (role === "system" || role === "developer") return { role, part: "systemPrompt" };
  if (role === "tool" || role === "function") return { role, part: "toolOutput" };
  return { role, part: "messages" };
}

/** Calls of tools that a provider runs itself contain their results. */
function placeOfMember(name: string, around: TextPlace): TextPlace {
  const isOutput = around.part === "toolInput" && /^(?:output|outputs|results)$/.test(name);
  return isOutput ? TOOL_OUTPUT : around;
}

const TOOL_OUTPUT: TextPlace = { role: "tool", part: "toolOutput" };

const TOOL_INPUT: TextPlace = { role: "assistant", part: "toolInput" };

/** Calls and results in the APIs of Google and Bedrock, whose inputs and outputs are objects of any shape, by the member with that object. */
const FREE_MEMBERS: Readonly<
  Record<string, { readonly member: string; readonly place: TextPlace } | undefined>
> = Object.fromEntries([
  ...["functionCall", "function_call", "toolCall", "tool_call"].map(
    (key) => [key, { member: "args", place: TOOL_INPUT }] as const,
  ),
  ...["functionResponse", "function_response", "toolResponse", "tool_response"].map(
    (key) => [key, { member: "response", place: TOOL_OUTPUT }] as const,
  ),
  // Bedrock's.
  ["toolUse", { member: "input", place: TOOL_INPUT }] as const,
]);

/** Whether a string is text that a model may read: every string is, except for words of the format and encoded data. */
function isText(key: string, parent: Readonly<Record<string, unknown>>): boolean {
  if (key === "data") return parent.type === "text";
  if (key === "pattern") return parent.type === "find_in_page";
  if (key === "result") return parent.type !== "image_generation_call";
  return !NO_TEXTS.has(key) && !key.startsWith("encrypted_") && !key.endsWith("_id");
}

/**
 * Whether a string is a name that a model reads. Some servers and clients print roles and words that a format does not
 * define.
 */
function isName(key: string, text: string): boolean {
  if (NAMES.has(key)) return true;
  return key === "role" ? !isRole(text) : WORDS.has(key) && !FORMAT_WORDS.has(text);
}

/** Whether the formats define a role. */
export function isRole(text: string): boolean {
  return ROLES.has(text);
}

const NAMES: ReadonlySet<string> = new Set([
  ...["name", "tool_name", "server_name", "server_label", "allowed_tools", "tool_names"],
  "allowedFunctionNames",
]);

/** Members with the content of messages. */
const PARTS: ReadonlySet<string> = new Set(["text", "content", "transcript"]);

const ROLES: ReadonlySet<string> = new Set([
  ...["user", "assistant", "system", "developer", "tool", "function", "model"],
  ...["critic", "discriminator", "unknown"],
]);

/** Members whose objects are JSON schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  ...["parameters", "input_schema", "output_schema", "schema", "parametersJsonSchema"],
  "parameters_json_schema",
  ...["responseJsonSchema", "_responseJsonSchema", "responseSchema"],
]);

/** Whether an object is a JSON schema. Declarations in the APIs of Google and Bedrock have some, too. */
function isSchema(key: string, { part }: TextPlace): boolean {
  return SCHEMAS.has(key) || ((key === "response" || key === "json") && part === "systemPrompt");
}

/** Whether an object is a tool's input, which may have any shape. */
function isToolInput(key: string, { type }: Readonly<Record<string, unknown>>): boolean {
  return key === "input" && typeof type === "string" && type.endsWith("tool_use");
}

/** Members whose values are words of formats. */
const WORDS: ReadonlySet<string> = new Set([
  ...["type", "object", "status", "phase", "mode", "tool_choice", "function_call", "format"],
  ...["media_type", "mime_type", "detail", "ttl", "finish_reason", "stop_reason", "scope"],
  ...["effort", "quality", "size", "background", "action_type", "language", "outcome"],
  ...["mimeType", "responseMimeType", "finishReason", "blockReason", "category", "probability"],
  ...["severity", "threshold", "modality", "responseModalities", "mediaResolution", "behavior"],
  ...["scheduling", "thinkingLevel", "toolType", "urlRetrievalStatus", "stopReason", "latency"],
]);

/** Members with words, ids, URLs, credentials, and encoded bytes. Files among them are decoded. */
const NO_TEXTS: ReadonlySet<string> = new Set([
  ...WORDS,
  ...["role", "id", "model", "authorization_token", "signature", "partial_image_b64", "b64_json"],
  ...["url", "image_url", "file_url", "file_data", "server_url", "authorization"],
  ...["uri", "fileUri", "file_uri", "thoughtSignature", "thought_signature", "sdkBlob"],
  ...["toolUseId", "bytes", "redactedContent"],
]);
