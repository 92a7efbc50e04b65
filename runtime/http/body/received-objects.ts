import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { isTooDeep } from "../../json/nesting.ts";
import { SseReader } from "./sse.ts";

/** JSON objects of a captured body. */
export interface ReceivedObjects {
  /** The body as one object; `undefined` if it is a stream or a list. */
  readonly whole: JsonObject | undefined;
  /** Objects of the events of a stream, or items of a list. */
  readonly parts: readonly JsonObject[];
}

/** Reads a captured body: an object, a list of objects, or a stream of events. */
export function receivedObjects(body: Uint8Array): ReceivedObjects {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const value = parsed(bytes.toString());
  if (isJsonObject(value)) return { whole: value, parts: [] };
  if (Array.isArray(value)) return { whole: undefined, parts: value.filter(isJsonObject) };
  const events = new SseReader(bytes.length + 1).push(bytes) ?? [];
  return {
    whole: undefined,
    parts: events.map(({ data = "" }) => parsed(data)).filter(isJsonObject),
  };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(text) ? undefined : value;
  } catch {
    return undefined;
  }
}
