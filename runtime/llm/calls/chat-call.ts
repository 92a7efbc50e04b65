import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { hasLongNumber, parseExact } from "../../json/exact-json.ts";
import { foldCase } from "../../json/fold-case.ts";
import { JsonBody } from "../../json/json-body.ts";
import { isObjectAt, type Member, shallowMembers, skipSpace } from "../../json/json-text.ts";
import { maxDepth } from "../../json/nesting.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { isJsonObject } from "../chat/request-object.ts";

/** A client's request to a model, as it was read. */
export interface ChatCall {
  readonly text: string;
  /** What the client sent; `text` is the same, unless something was changed in it. */
  readonly sent: { readonly text: string; readonly bytes: Uint8Array };
  /** Of the text. */
  readonly members: readonly Member[];
  readonly body: JsonObject;
  /** What the client asks for; undefined: it names no model. */
  readonly model: string | undefined;
  readonly isStream: boolean;
  /** The client's. */
  readonly headers: HeaderList;
}

/** Reads the body of a request that is there (`bufferBody`): a JSON object without repeated keys. Throws LlmRefusal for what is no such object. */
export function readCall({ bufferedBody, requestHeaders }: Exchange): ChatCall {
  const bytes = bufferedBody ?? new Uint8Array();
  if (!isUtf8(bytes)) throw invalid("the request body is not UTF-8");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const { members, body } = parse(text);
  const { model, stream } = body;
  if (model !== undefined && model !== null && typeof model !== "string") {
    throw invalid('"model" must be a string', "model");
  }
  if (members.length !== Object.keys(body).length) throw repeated(members);
  const misspelt = members.find(({ key }) => isMisspelt(key, body));
  if (misspelt !== undefined) throw unsure(misspelt.key);
  return {
    text,
    sent: { text, bytes },
    members,
    body,
    model: model ?? undefined,
    isStream: stream === true,
    headers: requestHeaders,
  };
}

/** The body of a call for one provider, to be edited. */
export function bodyFor({ text, members, model: requested }: ChatCall, model: string): JsonBody {
  const body = new JsonBody(text, members);
  if (requested !== model) body.set("model", JSON.stringify(model));
  return body;
}

/** What a body goes to the provider as: the client's own bytes when nothing was changed in it. */
export function writtenBody({ sent }: ChatCall, body: JsonBody): string | Uint8Array {
  const text = body.toString();
  return text === sent.text ? sent.bytes : text;
}

/** The call with an edited body; the call itself when nothing was changed in it. */
export function editedCall(call: ChatCall, edited: JsonBody): ChatCall {
  const text = edited.toString();
  return text === call.text ? call : { ...call, text, ...parse(text) };
}

/** The call as if its client had asked for another model. */
export function renamedCall(call: ChatCall, model: string): ChatCall {
  return { ...editedCall(call, bodyFor(call, model)), model };
}

/** What an edited body says, with numbers as exact as they were written. */
export function editedObject(call: ChatCall, body: JsonBody): JsonObject {
  const text = body.toString();
  if (text === call.text && !hasLongNumber(text)) return call.body;
  // It was an object, and edits change its members only.
  return parseExact(text) as JsonObject;
}

function parse(text: string): Pick<ChatCall, "members" | "body"> {
  const start = skipSpace(text, 0);
  let members: readonly Member[] | undefined = [];
  let body: unknown;
  try {
    if (isObjectAt(text, start)) members = shallowMembers(text, start, maxDepth);
    if (members !== undefined) body = JSON.parse(text);
  } catch {
    throw invalid("the request body is not valid JSON");
  }
  if (members === undefined) throw invalid("the request body is nested too deeply");
  if (!isJsonObject(body)) throw invalid("the request body must be a JSON object");
  return { members, body };
}

function repeated(members: readonly Member[]): LlmRefusal {
  const keys = members.map(({ key }) => key);
  const field = keys.find((key, index) => keys.indexOf(key) !== index) ?? "";
  return invalid(`"${field}" stands twice in the request body`, field);
}

/**
 * Whether a key is another one, or one that policies read, but for its case: some servers (those in Go) take either for the
 * other, so what was judged would not be what is executed.
 */
function isMisspelt(key: string, body: JsonObject): boolean {
  if (plainKey.test(key)) return false;
  const folded = foldCase(key);
  return folded !== key && (judged.has(folded) || Object.hasOwn(body, folded));
}

const plainKey = /^[a-z0-9_]*$/;

const judged: ReadonlySet<string> = new Set(["model", "stream"]);

function unsure(key: string): LlmRefusal {
  return invalid(`"${key}" differs from "${foldCase(key)}" in its case only`, key);
}

function invalid(message: string, field?: string): LlmRefusal {
  const error: LlmError = { kind: "invalid", message, field };
  return new LlmRefusal(error);
}
