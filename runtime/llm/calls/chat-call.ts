import { isUtf8 } from "node:buffer";
import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { HeaderList } from "../../http/headers/header-list.ts";
import { hasLongNumber, parseExact } from "../../json/exact-json.ts";
import { foldCase } from "../../json/fold-case.ts";
import { JsonBody } from "../../json/json-body.ts";
import { codesOf } from "../../json/json-codes.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { type Member, ownText } from "../../json/json-text.ts";
import { KnownKeys } from "../../json/known-keys.ts";
import { MAX_JSON_DEPTH } from "../../json/nesting.ts";
import { readMembers } from "../../json/read-members.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import { bufferOf } from "../chat/stream-step.ts";

/** A client's parsed request to a model. */
export class ChatCall {
  readonly text: string;
  /** Original request; `text` is equal to it until something is changed. */
  readonly sent: { readonly text: string; readonly bytes: Uint8Array };
  /** Members of `text`. */
  readonly members: readonly Member[];
  /** Requested model; `undefined` if the client names no model. */
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

  /** Headers of the client's request. */
  get headers(): HeaderList {
    return this.#client.requestHeaders;
  }

  /** Time when it arrived, in milliseconds of the monotonic clock. */
  get started(): number {
    return this.#client.started;
  }

  /**
   * Parsed body. Most calls never parse it, so that long prompts pass unread. Throws LlmRefusal if nested values are not
   * valid JSON.
   */
  get body(): JsonObject {
    const body = this.readBody();
    if (body === undefined) throw noJson();
    return body;
  }

  /** Returns the parsed body; `undefined` if nested values are not valid JSON. */
  readBody(): JsonObject | undefined {
    this.#body ??= parsedBody(this.text);
    return this.#body;
  }

  /** Returns a copy with changes. `changes`: a new text requires its members. */
  with(changes: Partial<Omit<CallFacts, "body">> & { readonly body?: JsonObject }): ChatCall {
    const body = changes.text === undefined ? this.#body : undefined;
    const { text, sent, members, model, isStream } = this;
    const client = this.#client;
    return new ChatCall({ text, sent, members, model, isStream, client, body, ...changes });
  }
}

/** Part of an exchange that a call needs. */
type CallClient = Pick<Exchange, "requestHeaders" | "started">;

/** Constructor arguments of a call. */
export interface CallFacts
  extends Pick<ChatCall, "text" | "sent" | "members" | "model" | "isStream"> {
  readonly client: CallClient;
  /** `undefined` if it is not parsed yet. */
  readonly body: JsonObject | undefined;
}

/**
 * Reads a buffered request body (`bufferBody`): an object without repeated keys. Throws LlmRefusal for anything else. Nested
 * values are validated when they are read.
 */
export function readCall(client: Exchange): ChatCall {
  const bytes = client.bufferedBody ?? new Uint8Array();
  // A form starts with its boundary, and JSON never with a dash.
  const isForm =
    bytes[0] === DASH && client.header("content-type")?.toLowerCase().startsWith(FORM) === true;
  if (isForm) throw wrongType("application/json");
  return readCallOf(client, bytes);
}

const DASH = 0x2d;
const FORM = "multipart/form-data";

/** Returns the refusal of a body whose content type is not the one of the path. */
export function wrongType(wanted: string): LlmRefusal {
  const message = `this path takes ${wanted}`;
  return new LlmRefusal({ kind: "invalid", message, status: 415 });
}

/** Reads a body in the same way. `bytes` replaces the client's body. */
export function readCallOf(client: CallClient, bytes: Uint8Array): ChatCall {
  const text = textOf(bytes);
  const members = membersOf(text, bytes);
  const repeated = repeatedKey(members);
  if (repeated !== undefined)
    throw invalid(`"${repeated}" occurs twice in the request body`, repeated);
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
  if (!isPlain) refuseCaseVariants(members);
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
  // Invalid UTF-8 is decoded to this character, which may also have been sent.
  if (text.includes("\ufffd") && !isUtf8(bytes)) throw invalid("the request body is not UTF-8");
  return text;
}

/** Returns a key that occurs twice; `undefined` if all are unique. */
function repeatedKey(members: readonly Member[]): string | undefined {
  if (members.length > MAX_COMPARED) {
    const keys = new Set<string>();
    return members.find(({ key }) => keys.size === keys.add(key).size)?.key;
  }
  return members.find(({ key }, at) => {
    for (let i = 0; i < at; i++) if (members[i]?.key === key) return true;
    return false;
  })?.key;
}

/** Maximum number of members for which comparing all pairs is faster than building a set. */
const MAX_COMPARED = 16;

/** Returns the body of a call, to be edited for one provider. */
export function bodyFor({ text, members, model: requested }: ChatCall, model: string): JsonBody {
  const body = new JsonBody(text, members);
  if (requested !== model) body.set("model", JSON.stringify(model));
  return body;
}

/** Returns the body to send: a string, or the client's own bytes if a long body was not changed. */
export function writtenBody({ sent }: ChatCall, body: JsonBody): string | Uint8Array {
  const text = body.toString();
  return text === sent.text && text.length > SHORT_BODY ? sent.bytes : text;
}

/** Returns the byte length of a body that is sent as a string; `undefined` if the body was changed, or is sent as bytes. */
export function sentLength({ sent }: ChatCall, body: string | Uint8Array): number | undefined {
  return body === sent.text ? sent.bytes.length : undefined;
}

/**
 * Maximum length of bodies that are sent as a string. They are written together with the head, which is faster than writing
 * bytes separately.
 */
const SHORT_BODY = 4096;

/** Returns the call with an edited body; the call itself if nothing was changed. */
export function editedCall(call: ChatCall, edited: JsonBody): ChatCall {
  const text = edited.toString();
  return text === call.text
    ? call
    : call.with({ text, members: membersOf(text, Buffer.from(text)) });
}

/** Returns the call as if its client had requested another model. */
export function renamedCall(call: ChatCall, model: string): ChatCall {
  return editedCall(call, bodyFor(call, model)).with({ model });
}

/** Parses an edited body with exact numbers. Throws LlmRefusal if nested values of the client's body are not valid JSON. */
export function editedObject(call: ChatCall, body: JsonBody): JsonObject {
  const text = body.toString();
  const isLong = hasLongNumber(text);
  if (text === call.text && !isLong) return call.body;
  const edited = parsedBody(text, isLong);
  if (edited === undefined) throw noJson();
  return edited;
}

/** `bytes` is the UTF-8 of `text`. */
function membersOf(text: string, bytes: Uint8Array): readonly Member[] {
  const members = readMembers(text, codesOf(text, bytes), {
    maxDepth: MAX_JSON_DEPTH,
    known: KNOWN_KEYS,
  });
  if (members === "no-json") throw noJson();
  if (members === "too-deep") throw invalid("the request body is nested too deeply");
  if (members === "no-object") throw invalid("the request body must be a JSON object");
  return members;
}

/** Keys that are frequent in requests of any format. */
const KNOWN_KEYS = new KnownKeys([
  ...["model", "stream", "messages", "input", "tools", "tool_choice", "stream_options"],
  ...["max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p"],
  ...["system", "instructions", "response_format", "metadata", "stop", "user"],
]);

/** Parses the value of a member that is expected to be short. */
function shortValue(text: string, { start, end }: Member): unknown {
  try {
    const json = text.slice(start, end);
    return PLAIN_STRING.test(json) ? ownText(json.slice(1, -1)) : JSON.parse(json);
  } catch {
    throw noJson();
  }
}

/** A JSON string without escapes, as names of models are. */
const PLAIN_STRING = /^"[\w.:/@-]*"$/;

/** Parses an object; `undefined` for anything else. `isExact`: numbers beyond doubles stay exact. */
export function parsedBody(text: string, isExact = false): JsonObject | undefined {
  try {
    const value: unknown = isExact ? parseExact(text) : JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses a key that differs only in case from another one, or from one that policies read. Some servers (in Go) accept
 * either, so that the executed request would differ from the authorized one.
 */
function refuseCaseVariants(members: readonly Member[]): void {
  const keys = new Set(AUTHORIZED_KEYS);
  for (const { key } of members) keys.add(key);
  for (const { key } of members) {
    const folded = isPlainKey(key) ? key : foldCase(key);
    if (folded !== key && keys.has(folded)) throw caseVariant(key);
  }
}

const AUTHORIZED_KEYS: readonly string[] = ["model", "stream"];

/** Whether a key consists of small letters, digits and `_`, as those of all formats do. */
function isPlainKey(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    const isLetter = code >= 0x61 && code <= 0x7a;
    if (!isLetter && code !== 0x5f && (code < 0x30 || code > 0x39)) return false;
  }
  return true;
}

function caseVariant(key: string): LlmRefusal {
  return invalid(`"${key}" differs from "${foldCase(key)}" only in case`, key);
}

/** Returns the refusal of a body whose nested values are not valid JSON. */
export function noJson(): LlmRefusal {
  return invalid("the request body is not valid JSON");
}

function invalid(message: string, field?: string): LlmRefusal {
  const error: LlmError = { kind: "invalid", message, field };
  return new LlmRefusal(error);
}
