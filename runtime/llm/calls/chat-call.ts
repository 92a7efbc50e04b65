import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../../cel/variables.ts";
import { bufferBody } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { parseExact } from "../../json/exact-json.ts";
import { JsonBody } from "../../json/json-body.ts";
import { type Member, objectMembers, skipSpace } from "../../json/json-text.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { isJsonObject } from "../chat/request-object.ts";

/** A client's request to a model, as it was read. */
export interface ChatCall {
  readonly text: string;
  /** Of the text. */
  readonly members: readonly Member[];
  readonly body: JsonObject;
  /** What the client asks for; undefined: it names no model. */
  readonly model: string | undefined;
  readonly isStream: boolean;
  /** The client's. */
  readonly headers: HeaderList;
}

/**
 * Reads the body of a request: a JSON object without repeated keys. Undefined: the client has its response, or is gone.
 * Throws LlmRefusal for what is no such object.
 */
export async function readCall(exchange: Exchange, limit: number): Promise<ChatCall | undefined> {
  if (!(await bufferBody(exchange, limit))) return undefined;
  const bytes = exchange.bufferedBody ?? new Uint8Array();
  if (!isUtf8(bytes)) throw invalid("the request body is not UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const body = parse(text);
  const members = objectMembers(text, skipSpace(text, 0));
  const { model, stream } = body;
  if (model !== undefined && model !== null && typeof model !== "string") {
    throw invalid('"model" must be a string', "model");
  }
  if (members.length !== Object.keys(body).length) throw repeated(members);
  return {
    text,
    members,
    body,
    model: model ?? undefined,
    isStream: stream === true,
    headers: exchange.requestHeaders,
  };
}

/** The body of a call for one provider, to be edited. */
export function bodyFor({ text, members }: ChatCall, model: string): JsonBody {
  const body = new JsonBody(text, members);
  const value = JSON.stringify(model);
  if (body.get("model") !== value) body.set("model", value);
  return body;
}

/** What an edited body says. */
export function editedObject(call: ChatCall, body: JsonBody): JsonObject {
  if (!body.isChanged) return call.body;
  // It was an object, and edits change its members only.
  return parseExact(body.toString()) as JsonObject;
}

/** Objects in objects in lists: more than any tool's schema has, and less than what recursion bears. */
const maxDepth = 256;

function parse(text: string): JsonObject {
  if (isDeeper(text, maxDepth)) throw invalid("the request body is nested too deeply");
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    throw invalid("the request body is not valid JSON");
  }
  if (!isJsonObject(value)) throw invalid("the request body must be a JSON object");
  return value;
}

/** Counts brackets, those in strings too: a text that has no more of them is not nested deeper. */
function isDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let isText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isText) {
      if (code === 0x5c) i += 1;
      else if (code === 0x22) isText = false;
    } else if (code === 0x22) isText = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

function repeated(members: readonly Member[]): LlmRefusal {
  const keys = members.map(({ key }) => key);
  const field = keys.find((key, index) => keys.indexOf(key) !== index) ?? "";
  return invalid(`"${field}" stands twice in the request body`, field);
}

function invalid(message: string, field?: string): LlmRefusal {
  const error: LlmError = { kind: "invalid", message, field };
  return new LlmRefusal(error);
}
