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

/** The keys of `params._meta` with the context of a request of revision 2026-07-28. */
export const metaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** The context of a request in `params._meta`. */
export interface Envelope {
  /** `undefined` if the request names no version. */
  readonly version: string | undefined;
  /** The range of the capabilities; `undefined` if the request has none. */
  readonly capabilities: TextRange | undefined;
}

/** Reads the envelope of a message; returns a string that describes the problem if it is malformed. */
export function readEnvelope(message: Message): Envelope | string {
  const fields = metaFields(message);
  if (typeof fields === "string") return fields;
  return {
    version: stringAt(message.text, fields.get(metaKey.protocolVersion)),
    capabilities: objectAt(message.text, fields.get(metaKey.clientCapabilities)),
  };
}

/** Whether a message declares a revision without sessions. */
export function hasEnvelope(message: Message): boolean {
  // JSON may write the key with escapes, which no client does; the header decides for such a message.
  if (!message.text.includes(metaKey.protocolVersion)) return false;
  const envelope = readEnvelope(message);
  return typeof envelope === "string" || envelope.version !== undefined;
}

/** Returns the members of `params._meta`; empty if there is no such object. */
export function metaFields(message: Message): MessageFields | string {
  const at = message.paramFields?.get("_meta");
  if (at?.members === undefined) return noFields;
  return fieldsOf(at).among(knownKeys);
}

/**
 * Returns the message with these members added to `_meta` and to `params` (by name, JSON text); existing members with the
 * same name are replaced.
 */
export function withParams(
  message: Message,
  meta: Readonly<Record<string, string>>,
  params: Readonly<Record<string, string>> = {},
): Message {
  return edited(message, [paramsEdit(message, meta, params)]);
}

/** The fields of the trace context, as headers and as members of `params._meta` (W3C Trace Context and Baggage, SEP-414). */
export const CONTEXT_FIELDS = ["traceparent", "tracestate", "baggage"] as const;

/** Whether a message may contain a trace context (SEP-414). JSON may write the key with escapes, which no client does. */
export function mayHaveTrace(message: string | Buffer): boolean {
  return message.includes("traceparent");
}

/** Returns the same message as a string, without parsing it again. */
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
 * Returns a response with these members added to `_meta` and to its result (by name, JSON text); existing members with the
 * same name are replaced.
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

/** Returns a response without a member of its result. */
export function withoutResultMember(response: Message, name: string): Message {
  const { text, result } = response;
  if (result === undefined) return response;
  const own = objectMembers(text, result.start).filter(({ key }) => key !== name);
  return edited(response, [{ ...result, text: mergedObject(text, own, {}) }]);
}

/** Returns the object at `at` with these members added to its `_meta` and to itself. */
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

/** Returns an object with the new members first; existing members with the same name are dropped. */
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
