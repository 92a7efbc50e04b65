import {
  applyEdits,
  type Edit,
  isObjectAt,
  objectMembers,
  stringAt,
  type TextRange,
} from "../../json/json-text.ts";
import type { Message } from "./message.ts";
import { edited } from "./message-edit.ts";
import { fieldsOf, type MessageFields, noFields } from "./message-fields.ts";

/** The keys of `params._meta` by which a request of revision 2026-07-28 says what it is part of. */
export const metaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** What a request says of itself in `params._meta`. */
export interface Envelope {
  /** Undefined: it names none. */
  readonly version: string | undefined;
  /** Where the capabilities are; undefined: it names none. */
  readonly capabilities: TextRange | undefined;
}

/** Reads the envelope of a message; a string is why it can't be read. */
export function readEnvelope(message: Message): Envelope | string {
  const fields = metaFields(message);
  if (typeof fields === "string") return fields;
  return {
    version: stringAt(message.text, fields.get(metaKey.protocolVersion)),
    capabilities: objectAt(message.text, fields.get(metaKey.clientCapabilities)),
  };
}

/** Whether a message says that it is one of a revision without sessions. */
export function hasEnvelope(message: Message): boolean {
  // A JSON text may write the key with escapes, which no client does: what its header says then holds.
  if (!message.text.includes(metaKey.protocolVersion)) return false;
  const envelope = readEnvelope(message);
  return typeof envelope === "string" || envelope.version !== undefined;
}

/** The members of `params._meta`; none when there is no such object. */
export function metaFields(message: Message): MessageFields | string {
  const at = message.paramFields?.get("_meta");
  if (at?.members === undefined) return noFields;
  return fieldsOf(at).among(knownKeys);
}

/**
 * The message with these members of `_meta` and of `params` (by name, JSON text) beside what it has there; a member that it
 * has under such a name is replaced.
 */
export function withParams(
  message: Message,
  meta: Readonly<Record<string, string>>,
  params: Readonly<Record<string, string>> = {},
): Message {
  return edited(message, [paramsEdit(message, meta, params)]);
}

/** What says where a request belongs, as a header and as a member of `params._meta` (W3C Trace Context and Baggage, SEP-414). */
export const CONTEXT_FIELDS = ["traceparent", "tracestate", "baggage"] as const;

/** Whether a message may say something of its trace (SEP-414). A JSON text may write the key with escapes, which no client does. */
export function saysTrace(message: string | Buffer): boolean {
  return message.includes("traceparent");
}

/** The text of that message, for whoever does not read it again. */
export function textWithParams(message: Message, meta: Readonly<Record<string, string>>): string {
  return applyEdits(message.text, [paramsEdit(message, meta, {})]);
}

function paramsEdit(
  { text, params }: Message,
  meta: Readonly<Record<string, string>>,
  members: Readonly<Record<string, string>>,
): Edit {
  const object = withMeta(text, params, meta, members);
  if (params !== undefined) return { ...params, text: object };
  const end = text.lastIndexOf("}");
  return { start: end, end, text: `,"params":${object}` };
}

/**
 * A response with these members of `_meta` and of its result (by name, JSON text); a member that it has under such a name is
 * replaced.
 */
export function withResult(
  response: Message,
  meta: Readonly<Record<string, string>>,
  members: Readonly<Record<string, string>>,
): Message {
  const { text, result } = response;
  if (result === undefined) return response;
  return edited(response, [{ ...result, text: withMeta(text, result, meta, members) }]);
}

/** A response whose result does not have a member. */
export function withoutResultMember(response: Message, name: string): Message {
  const { text, result } = response;
  if (result === undefined) return response;
  const own = objectMembers(text, result.start).filter(({ key }) => key !== name);
  return edited(response, [{ ...result, text: mergedObject(text, own, {}) }]);
}

/** The object at `at` with these members of its `_meta`, and of its own. */
function withMeta(
  text: string,
  at: TextRange | undefined,
  meta: Readonly<Record<string, string>>,
  members: Readonly<Record<string, string>>,
): string {
  const own = at === undefined ? [] : objectMembers(text, at.start);
  const metaAt = own.find(({ key }) => key === "_meta");
  const ownMeta =
    metaAt !== undefined && isObjectAt(text, metaAt.start) ? objectMembers(text, metaAt.start) : [];
  const isEmpty = Object.keys(meta).length === 0 && ownMeta.length === 0;
  const ofMeta = isEmpty ? {} : { _meta: mergedObject(text, ownMeta, meta) };
  return mergedObject(text, own, { ...ofMeta, ...members });
}

/** An object's members with others before them; a member of the same name gives way. */
function mergedObject(
  text: string,
  own: ReturnType<typeof objectMembers>,
  members: Readonly<Record<string, string>>,
): string {
  const first = Object.entries(members).map(([key, value]) => `${JSON.stringify(key)}:${value}`);
  const kept = own
    .filter(({ key }) => !Object.hasOwn(members, key))
    .map(({ keyStart, end }) => text.slice(keyStart, end));
  return `{${[...first, ...kept].join(",")}}`;
}

const knownKeys: ReadonlySet<string> = new Set(Object.values(metaKey));

function objectAt(text: string, at: TextRange | undefined): TextRange | undefined {
  return at !== undefined && isObjectAt(text, at.start) ? at : undefined;
}
