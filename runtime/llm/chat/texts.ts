import type { JsonObject } from "../../cel/variables.ts";
import { mapFile } from "./file-texts.ts";
import { formatWords } from "./format-words.ts";
import { mapKeys, mapList, mapObject } from "./map-values.ts";
import { memberWords } from "./member-words.ts";
import { isJsonObject } from "./request-object.ts";
import { mapJson, mapSchema } from "./schema-texts.ts";
import type { TextPlace, WholeTexts } from "./whole-texts.ts";

/** Where a format has text that a model reads, or a user sees. */
export interface TextFormat {
  /** The field of a request that has its texts in a form that nobody can look at; absent: there is none. */
  unreadable?(body: JsonObject): string | undefined;
  /** Members of a request with texts in them, at any depth. */
  readonly request: readonly string[];
  /** Its other members. One that is in neither list may be a text to some server, and is guarded like one. */
  readonly plain: ReadonlySet<string>;
  /** Members of a whole response with texts in them. */
  readonly response: readonly string[];
  /** Its other members, of those that hold texts. One that is in neither list is guarded. */
  readonly plainResponse: ReadonlySet<string>;
  /** Guards the texts of one stream. */
  openStream(texts: TextGuards): StreamTexts;
}

/** What becomes of texts. */
export interface TextGuards extends WholeTexts {
  /** A text that comes in pieces. */
  open(): PieceGuard;
  /** The JSON of a tool's arguments that comes in pieces. */
  openJson(): PieceGuard;
  /** Texts that one role says one behind the other, each in pieces: they may be one text in parts. */
  openParts(): PartsGuard;
  /**
   * A text of an event that may go on in a later one, with the same `mark`. It does not wait: of a match that goes on the
   * rest is guarded. Absent: each of them is a text of its own.
   */
  carry?(text: string, place: TextPlace, mark: string): string;
}

/** One text that comes in pieces; it may keep back an end of what came. */
export interface PieceGuard {
  push(piece: string): string;
  /** What was kept back: the text is complete. */
  end(): string;
}

/**
 * One text that comes in parts, each of them in pieces. What is given is a list: its first text is of the first part of
 * which something was kept back, or of the one that goes on; each further one of the part behind it.
 */
export interface PartsGuard {
  push(piece: string): readonly string[];
  /** The part is complete: what comes is of the next one. */
  next(): readonly string[];
  /** What was kept back, as if the text ended there; of a match that goes on behind it the rest is guarded, too. */
  release(): readonly string[];
  /** What was kept back: the text is complete. */
  end(): readonly string[];
}

/** The events of one stream of a format. */
export interface StreamTexts {
  /** What the client gets for an event. */
  see(event: Buffer): readonly (string | Buffer)[];
  /** What it gets of texts that were kept back when the stream breaks off. */
  end(): readonly (string | Buffer)[];
}

/** What a model says. */
export const modelPlace: TextPlace = { role: "assistant", part: "messages" };

/** The members of a request to look at: those with texts, and those that its API does not know. */
export function textMembers(body: JsonObject, { request, plain }: TextFormat): readonly string[] {
  const unknown = Object.keys(body).filter((key) => !plain.has(key) && !request.includes(key));
  return unknown.length === 0 ? request : [...request, ...unknown];
}

/** The members of a response to look at: those with texts, and those that the API does not know. */
export function responseMembers(
  body: JsonObject,
  { response, plainResponse }: TextFormat,
): readonly string[] {
  const unknown = Object.keys(body).filter(
    (key) => !plainResponse.has(key) && !response.includes(key),
  );
  return unknown.length === 0 ? response : [...response, ...unknown];
}

/** The members of an object with their texts, and names that no API has, replaced; the object itself when none changes. */
export function mapMembers(
  body: JsonObject,
  keys: readonly string[],
  texts: WholeTexts,
): JsonObject {
  const changed = keys.flatMap((key) => {
    const value = body[key];
    const place = placesOfMembers[key];
    // Its keys are the client's, too.
    const isFree = key === "metadata" && isJsonObject(value);
    const next = isFree
      ? mapJson(value, texts, place ?? modelPlace)
      : mapTexts(value, texts, place, true);
    return next === value ? [] : [[key, next] as const];
  });
  const mapped = changed.length === 0 ? body : { ...body, ...Object.fromEntries(changed) };
  const nameOf = (name: string): string => guardedName(name, texts, modelPlace);
  return keys.every((key) => memberWords.has(key)) ? mapped : mapKeys(mapped, nameOf);
}

/** An object whose members, at any depth, have names that guards have seen; the object itself when none changes. */
export function mapNames(object: JsonObject, texts: WholeTexts): JsonObject {
  const inside = (value: unknown): unknown => {
    if (Array.isArray(value)) return mapList(value, inside);
    return isJsonObject(value) ? mapNames(value, texts) : value;
  };
  const mapped = mapObject(object, inside);
  if (Object.keys(mapped).every((name) => memberWords.has(name))) return mapped;
  return mapKeys(mapped, (name) => guardedName(name, texts, modelPlace));
}

/** A member's name as guards leave it: words of the format pass. */
function guardedName(name: string, texts: WholeTexts, place: TextPlace): string {
  return memberWords.has(name) ? name : texts.replace(name, { ...place, isName: true });
}

/** Members of requests and responses whose texts are not the model's own unless they say so. */
const placesOfMembers: Readonly<Record<string, TextPlace>> = {
  ...Object.fromEntries(
    ["system", "instructions", "tools", "functions", "response_format", "text", "output_config"]
      .concat(["output_format", "web_search_options", "stop", "stop_sequences", "metadata"])
      .concat(["tool_choice", "function_call", "mcp_servers"])
      .map((key) => [key, { role: "system", part: "systemPrompt" }]),
  ),
  ...Object.fromEntries(
    ["input", "messages", "prompt"].map((key) => [key, { role: "user", part: "messages" }]),
  ),
};

/**
 * The value with its texts replaced; the value itself when no text changes. `place`: what its texts are unless it says.
 * `withNames`: names of members that no API has are texts, too.
 */
export function mapTexts(
  value: unknown,
  texts: WholeTexts,
  place: TextPlace = modelPlace,
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
    // The tokens would say what is masked.
    if (key === "logprobs" && each !== null) return withoutTokens(each);
    if (Array.isArray(each)) return mapList(each, (item) => visit(item, key, parent, at));
    if (!isJsonObject(each)) return each;
    // Credentials for the server of a tool.
    if (key === "headers" && parent.type === "mcp") return each;
    if (SCHEMAS.has(key)) return mapSchema(each, texts, at);
    if (isToolInput(key, parent)) {
      // What was no object is one with its text.
      if (typeof each.arguments === "string" && Object.keys(each).length === 1) {
        return mapObject(each, (text, name) => visit(text, name, each, at));
      }
      return mapJson(each, texts, { ...at, part: "toolInput" });
    }
    // Of a kept prompt: whatever a variable is called, its text is put into the prompt.
    const areVariables = key === "variables";
    const own = areVariables ? at : placeOf(each, key, at);
    const mapped = mapObject(each, (member, name) =>
      areVariables
        ? visit(member, "", {}, own)
        : visit(member, name, each, placeOfMember(name, own)),
    );
    if (!withNames || Object.keys(each).every((name) => memberWords.has(name))) return mapped;
    return mapKeys(mapped, (name) => guardedName(name, texts, own));
  };
  return visit(value, "", {}, place);
}

/** Log probabilities without what they are of. */
function withoutTokens(logprobs: unknown): unknown {
  if (!Array.isArray(logprobs)) return null;
  return logprobs.length === 0 ? logprobs : [];
}

/** What the texts of an object are: messages have a role, and what tools are told or say has a type. */
function placeOf({ type, role }: JsonObject, key: string, around: TextPlace): TextPlace {
  const isCall = key === "custom" || key === "action";
  if (isCall && around.part === "messages") return { ...around, part: "toolInput" };
  if (typeof type === "string") {
    if (/(?:tool_result|_output)$/.test(type) && type !== "output") return toolOutput;
    if (/(?:tool_use|_call)$/.test(type)) return { role: "assistant", part: "toolInput" };
  }
  if (typeof role !== "string") return around;
  if (role === "system" || role === "developer") return { role, part: "systemPrompt" };
  if (role === "tool" || role === "function") return { role, part: "toolOutput" };
  return { role, part: "messages" };
}

/** Calls of tools that a provider runs itself hold what came of them. */
function placeOfMember(name: string, around: TextPlace): TextPlace {
  const isOutput = around.part === "toolInput" && /^(?:output|outputs|results)$/.test(name);
  return isOutput ? toolOutput : around;
}

const toolOutput: TextPlace = { role: "tool", part: "toolOutput" };

/** Every string is a text that a model may read but those by which programs find their way, and what is no text. */
function isText(key: string, parent: Readonly<Record<string, unknown>>): boolean {
  if (key === "data") return parent.type === "text";
  if (key === "pattern") return parent.type === "find_in_page";
  if (key === "result") return parent.type !== "image_generation_call";
  return !NO_TEXTS.has(key) && !key.startsWith("encrypted_") && !key.endsWith("_id");
}

/** Names that a model reads; roles and words that a format does not have are written out by some servers and clients. */
function isName(key: string, text: string): boolean {
  if (NAMES.has(key)) return true;
  return key === "role" ? !isRole(text) : WORDS.has(key) && !formatWords.has(text);
}

/** Whether a format has a role. */
export function isRole(text: string): boolean {
  return ROLES.has(text);
}

const NAMES: ReadonlySet<string> = new Set([
  ...["name", "tool_name", "server_name", "server_label", "allowed_tools", "tool_names"],
]);

/** What is said by turns. */
const PARTS: ReadonlySet<string> = new Set(["text", "content", "transcript"]);

const ROLES: ReadonlySet<string> = new Set([
  ...["user", "assistant", "system", "developer", "tool", "function", "model"],
  ...["critic", "discriminator", "unknown"],
]);

/** Members whose objects are JSON schemas. */
const SCHEMAS: ReadonlySet<string> = new Set([
  ...["parameters", "input_schema", "output_schema", "schema"],
]);

/** What a model wants a tool to do, as an object of any shape. */
function isToolInput(key: string, { type }: Readonly<Record<string, unknown>>): boolean {
  return key === "input" && typeof type === "string" && type.endsWith("tool_use");
}

/** Members whose values are words of formats. */
const WORDS: ReadonlySet<string> = new Set([
  ...["type", "object", "status", "phase", "mode", "tool_choice", "function_call", "format"],
  ...["media_type", "mime_type", "detail", "ttl", "finish_reason", "stop_reason", "scope"],
  ...["effort", "quality", "size", "background", "action_type"],
]);

/** Words, ids, addresses, credentials, and bytes as text: files among them are looked into. */
const NO_TEXTS: ReadonlySet<string> = new Set([
  ...WORDS,
  ...["role", "id", "model", "authorization_token", "signature", "partial_image_b64", "b64_json"],
  ...["url", "image_url", "file_url", "file_data", "server_url", "authorization"],
]);
