import { isUtf8 } from "node:buffer";
import {
  applyEdits,
  isArrayAt,
  isObjectAt,
  type Member,
  ownText,
  skipSpace,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";
import { scanJson, type WantedMember } from "../../json/scan-json.ts";
import { fieldsOf, type MessageFields, ObjectFields } from "./message-fields.ts";

/** A JSON-RPC 2.0 message as it was sent, and where its parts are. */
export interface Message {
  readonly kind: "request" | "notification" | "response";
  readonly text: string;
  /** The id as JSON text (`7`, `"a"`), never as a number: ids may be beyond 2^53. Empty for a notification. */
  readonly id: string;
  readonly idAt: TextRange;
  /** Empty for a response. */
  readonly method: string;
  /** The value of `params`; `undefined` if it is not an object. */
  readonly params: TextRange | undefined;
  /** The members of `params`; `undefined` if it is not an object. */
  readonly paramFields: ObjectFields | undefined;
  /** The value of `result`; `undefined` if it is not an object. */
  readonly result: TextRange | undefined;
}

/** Why a string is not a valid message; `id` is the JSON text to respond with. */
export interface MessageProblem {
  readonly kind: "problem";
  readonly code: number;
  readonly message: string;
  readonly id: string;
}

/** Parses a message that the gateway has written itself. Throws if it is not valid, which is a bug. */
export function ownMessage(text: string): Message {
  const message = readMessage(text);
  if (message.kind === "problem") throw new Error(message.message);
  return message;
}

/** Reads one message from a request body. */
export function readMessageBytes(bytes: Buffer): Message | MessageProblem {
  // Servers decode invalid UTF-8 differently: the name that was checked might not be the name that is called.
  if (!isUtf8(bytes)) return problem(-32700, "Parse error: not UTF-8");
  return readMessage(bytes.toString("utf8"));
}

/** Reads one message. */
export function readMessage(text: string): Message | MessageProblem {
  const members = scanJson(text, wantedMembers);
  if (members === undefined) return problem(-32700, "Parse error: not JSON");
  const start = skipSpace(text, 0);
  if (isArrayAt(text, start)) {
    return problem(
      -32600,
      "Invalid Request: only clients of 2025-03-26 may send batches, of at most 128 KiB with Content-Length",
    );
  }
  if (!isObjectAt(text, start)) return problem(-32600, "Invalid Request: not a JSON-RPC message");
  const envelope = new ObjectFields(members).among(ENVELOPE_NAMES);
  if (typeof envelope === "string") return problem(-32600, `Invalid Request: ${envelope}`);
  return classify(text, envelope);
}

/** Returns the message with another id (JSON text). */
export function withId(message: Message, id: string): Message {
  if (message.id === id) return message;
  const changed = readMessage(applyEdits(message.text, [{ ...message.idAt, text: id }]));
  // One valid token replaces another, so this cannot fail.
  return changed.kind === "problem" ? message : changed;
}

/** Returns the substring at a range. */
export function textAt(text: string, span: TextRange): string {
  return text.slice(span.start, span.end);
}

const ENVELOPE_NAMES: ReadonlySet<string> = new Set([
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
]);

/** The members that nearly every request is read for. */
const wantedMembers: readonly WantedMember[] = [
  { name: "params", members: [{ name: "_meta", members: [] }] },
];

const nowhere: TextRange = { start: 0, end: 0 };

function problem(code: number, message: string, id = "null"): MessageProblem {
  return { kind: "problem", code, message, id };
}

function classify(text: string, envelope: MessageFields): Message | MessageProblem {
  const idAt = envelope.get("id");
  const id = idAt === undefined ? "" : ownText(textAt(text, idAt));
  const version = envelope.get("jsonrpc");
  if (version === undefined || textAt(text, version) !== '"2.0"') {
    return problem(-32600, 'Invalid Request: "jsonrpc" is not "2.0"', isId(id) ? id : "null");
  }
  const method = envelope.get("method");
  if (method !== undefined) {
    const name = stringAt(text, method);
    if (name === undefined) {
      return problem(-32600, 'Invalid Request: "method" is not a string');
    }
    if (idAt !== undefined && !isId(id)) {
      return problem(-32600, 'Invalid Request: "id" is not a string or a number');
    }
    const kind = idAt === undefined ? "notification" : "request";
    const params = objectSpan(text, envelope.get("params"));
    const paramFields = params && fieldsOf(params);
    const at = idAt ?? nowhere;
    return { kind, text, id, idAt: at, method: name, params, paramFields, result: undefined };
  }
  const result = envelope.get("result");
  if (idAt === undefined || (result === undefined) === (envelope.get("error") === undefined)) {
    return problem(-32600, "Invalid Request: neither a request nor a response");
  }
  return {
    kind: "response",
    text,
    id,
    idAt,
    method: "",
    params: undefined,
    paramFields: undefined,
    result: objectSpan(text, result),
  };
}

function objectSpan<M extends Member>(text: string, member: M | undefined): M | undefined {
  return member !== undefined && isObjectAt(text, member.start) ? member : undefined;
}

/** A string or a number (MCP: never null). */
function isId(raw: string): boolean {
  return raw !== "" && (raw.startsWith('"') || raw.startsWith("-") || isDigit(raw.charCodeAt(0)));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
