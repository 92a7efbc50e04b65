import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { hasLongNumber, parseExact } from "../../json/exact-json.ts";
import { foldCase } from "../../json/fold-case.ts";
import { JsonBody } from "../../json/json-body.ts";
import { codesOf } from "../../json/json-codes.ts";
import { type Member, ownText } from "../../json/json-text.ts";
import { KnownKeys } from "../../json/known-keys.ts";
import { MAX_JSON_DEPTH } from "../../json/nesting.ts";
import { readMembers } from "../../json/read-members.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { isJsonObject } from "../chat/request-object.ts";
import { bufferOf } from "../chat/stream-step.ts";

/** A client's request to a model, as it was read. */
export class ChatCall {
  readonly text: string;
  /** What the client sent; `text` is the same, unless something was changed in it. */
  readonly sent: { readonly text: string; readonly bytes: Uint8Array };
  /** Of the text. */
  readonly members: readonly Member[];
  /** What the client asks for; undefined: it names no model. */
  readonly model: string | undefined;
  readonly isStream: boolean;
  readonly #client: CallClient;
  #body: JsonObject | undefined;

  constructor({ text, sent, members, model, isStream, client, body }: CallFacts) {
    this.text = text;
    this.sent = sent;
    this.members = members;
    this.model = model;
    this.isStream = isStream;
    this.#client = client;
    this.#body = body;
  }

  /** The client's. */
  get headers(): HeaderList {
    return this.#client.requestHeaders;
  }

  /** The text as JSON. Most calls are never asked for it: long prompts pass unread. Throws LlmRefusal when it is none inside. */
  get body(): JsonObject {
    const body = this.readBody();
    if (body === undefined) throw noJson();
    return body;
  }

  /** The same; undefined: it is no JSON inside. */
  readBody(): JsonObject | undefined {
    this.#body ??= parseObject(this.text);
    return this.#body;
  }

  /** The call with something else in it. `changes`: a new text comes with its members. */
  with(changes: Partial<Omit<CallFacts, "body">> & { readonly body?: JsonObject }): ChatCall {
    const body = changes.text === undefined ? this.#body : undefined;
    const { text, sent, members, model, isStream } = this;
    const client = this.#client;
    return new ChatCall({ text, sent, members, model, isStream, client, body, ...changes });
  }
}

/** Who makes a call. */
type CallClient = Pick<Exchange, "requestHeaders">;

/** What makes a call. */
export interface CallFacts
  extends Pick<ChatCall, "text" | "sent" | "members" | "model" | "isStream"> {
  readonly client: CallClient;
  /** Undefined: nobody has read it. */
  readonly body: JsonObject | undefined;
}

/**
 * Reads the body of a request that is there (`bufferBody`): an object without repeated keys. Throws LlmRefusal for what is no
 * such object. What stands inside of its members is judged by who reads them.
 */
export function readCall(client: Exchange): ChatCall {
  const bytes = client.bufferedBody ?? new Uint8Array();
  const text = textOf(bytes);
  const members = membersOf(text, bytes);
  const repeated = repeatedKey(members);
  if (repeated !== undefined)
    throw invalid(`"${repeated}" stands twice in the request body`, repeated);
  let model: unknown;
  let isStream = false;
  let isPlain = true;
  for (const member of members) {
    const { key } = member;
    if (key === "model") model = shortValue(text, member);
    else if (key === "stream") isStream = text.startsWith("true", member.start);
    else isPlain &&= isPlainKey(key);
  }
  if (typeof model !== "string" && model !== undefined && model !== null) {
    throw invalid('"model" must be a string', "model");
  }
  if (!isPlain) refuseMisspelt(members);
  return new ChatCall({
    text,
    sent: { text, bytes },
    members,
    model: model ?? undefined,
    isStream,
    client,
    body: undefined,
  });
}

function textOf(bytes: Uint8Array): string {
  const text = bufferOf(bytes).toString("utf8");
  // What is no UTF-8 is read as this character, which may also have been sent.
  if (text.includes("\ufffd") && !isUtf8(bytes)) throw invalid("the request body is not UTF-8");
  return text;
}

/** A key that stands twice; undefined: there is none. */
function repeatedKey(members: readonly Member[]): string | undefined {
  if (members.length > FEW_MEMBERS) {
    const keys = new Set<string>();
    return members.find(({ key }) => keys.size === keys.add(key).size)?.key;
  }
  return members.find(({ key }, at) => {
    for (let i = 0; i < at; i++) if (members[i]?.key === key) return true;
    return false;
  })?.key;
}

/** So many are compared with each other sooner than a set is made of them. */
const FEW_MEMBERS = 16;

/** The body of a call for one provider, to be edited. */
export function bodyFor({ text, members, model: requested }: ChatCall, model: string): JsonBody {
  const body = new JsonBody(text, members);
  if (requested !== model) body.set("model", JSON.stringify(model));
  return body;
}

/** What a body goes to the provider as: a text, or the client's own bytes when nothing was changed in a long one. */
export function writtenBody({ sent }: ChatCall, body: JsonBody): string | Uint8Array {
  const text = body.toString();
  return text === sent.text && text.length > SHORT_BODY ? sent.bytes : text;
}

/** Bytes of a body that goes to the provider as text; undefined: it is another one than the client's, or bytes. */
export function sentLength({ sent }: ChatCall, body: string | Uint8Array): number | undefined {
  return body === sent.text ? sent.bytes.length : undefined;
}

/** A text of so many characters is written with the head of a request: making it of its bytes once more would take longer. */
const SHORT_BODY = 4096;

/** The call with an edited body; the call itself when nothing was changed in it. */
export function editedCall(call: ChatCall, edited: JsonBody): ChatCall {
  const text = edited.toString();
  return text === call.text
    ? call
    : call.with({ text, members: membersOf(text, Buffer.from(text)) });
}

/** The call as if its client had asked for another model. */
export function renamedCall(call: ChatCall, model: string): ChatCall {
  return editedCall(call, bodyFor(call, model)).with({ model });
}

/** What an edited body says, with numbers as exact as they were written. Throws LlmRefusal when the client's is no JSON inside. */
export function editedObject(call: ChatCall, body: JsonBody): JsonObject {
  const text = body.toString();
  const isLong = hasLongNumber(text);
  if (text === call.text && !isLong) return call.body;
  const edited = parseObject(text, isLong);
  if (edited === undefined) throw noJson();
  return edited;
}

/** `bytes`: the text's. */
function membersOf(text: string, bytes: Uint8Array): readonly Member[] {
  const members = readMembers(text, codesOf(text, bytes), { maxDepth: MAX_JSON_DEPTH, known });
  if (members === "no-json") throw noJson();
  if (members === "too-deep") throw invalid("the request body is nested too deeply");
  if (members === "no-object") throw invalid("the request body must be a JSON object");
  return members;
}

/** Keys that most requests of any format have some of. */
const known = new KnownKeys([
  ...["model", "stream", "messages", "input", "tools", "tool_choice", "stream_options"],
  ...["max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p"],
  ...["system", "instructions", "response_format", "metadata", "stop", "user"],
]);

/** The value of a member of which only a short one is any good. */
function shortValue(text: string, { start, end }: Member): unknown {
  try {
    const json = text.slice(start, end);
    return PLAIN_STRING.test(json) ? ownText(json.slice(1, -1)) : JSON.parse(json);
  } catch {
    throw noJson();
  }
}

/** A string that stands for itself: names of models are. */
const PLAIN_STRING = /^"[\w.:/@-]*"$/;

function parseObject(text: string, isExact = false): JsonObject | undefined {
  try {
    const value: unknown = isExact ? parseExact(text) : JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses a key that is another one, or one that policies read, but for its case: some servers (those in Go) take either for
 * the other, so what was judged would not be what is executed.
 */
function refuseMisspelt(members: readonly Member[]): void {
  const keys = new Set(JUDGED);
  for (const { key } of members) keys.add(key);
  for (const { key } of members) {
    const folded = isPlainKey(key) ? key : foldCase(key);
    if (folded !== key && keys.has(folded)) throw unsure(key);
  }
}

const JUDGED: readonly string[] = ["model", "stream"];

/** Whether a key has small letters, digits and `_` alone, as those of all formats. */
function isPlainKey(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    const isLetter = code >= 0x61 && code <= 0x7a;
    if (!isLetter && code !== 0x5f && (code < 0x30 || code > 0x39)) return false;
  }
  return true;
}

function unsure(key: string): LlmRefusal {
  return invalid(`"${key}" differs from "${foldCase(key)}" in its case only`, key);
}

function noJson(): LlmRefusal {
  return invalid("the request body is not valid JSON");
}

function invalid(message: string, field?: string): LlmRefusal {
  const error: LlmError = { kind: "invalid", message, field };
  return new LlmRefusal(error);
}
