import type { JsonObject } from "../../cel/variables.ts";
import { hasRepeatedKey } from "../../json/json-text.ts";
import { mapNames } from "../chat/texts.ts";
import type { WholeTexts } from "../chat/whole-texts.ts";
import { dataOf } from "./event-bytes.ts";
import { parseObject } from "./parse-object.ts";
import { paddingOf } from "./repeated-event.ts";

/** An event of a guarded stream, reduced to the parts that are read. */
export interface ReadEvent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: string;
  /** Object of the data; `undefined` if the data is not an object. */
  readonly object: JsonObject | undefined;
}

/**
 * Reads an event. Removes comments, ids, retry times, unknown lines and names that differ from the object's type, because no
 * guard reads them and clients may show them. Of a repeated key, only the parsed value remains. Names of members that no API
 * defines are guarded. `undefined` if the event has no data.
 */
export function readEvent(bytes: Buffer, text: string, texts: WholeTexts): ReadEvent | undefined {
  const data = dataOf(text);
  if (data === undefined) return undefined;
  const parsed = parseObject(data);
  const object = parsed && unfilled(mapNames(parsed, texts));
  const plain = PLAIN_EVENT.exec(text);
  const isRead = plain !== null && (plain[1] === undefined || plain[1] === object?.type);
  const isOther = object !== parsed || (object !== undefined && hasRepeatedKey(data));
  if (!isOther && isRead) return { bytes, text, data, object };
  const type = object?.type;
  const line = typeof type === "string" && hasName(text, type) ? `event: ${type}\n` : "";
  const rewritten = isOther ? JSON.stringify(object) : data;
  const written = `${line}data: ${rewritten.replaceAll("\n", "\ndata: ")}\n\n`;
  return { bytes: Buffer.from(written), text: written, data: rewritten, object };
}

/** Replaces an object's padding with a fixed one; returns the object itself if it has no padding. */
function unfilled(object: JsonObject): JsonObject {
  const { obfuscation } = object;
  if (typeof obfuscation !== "string") return object;
  return { ...object, obfuscation: paddingOf(obfuscation.length) };
}

/** Comment that replaces an event without data, as a sign of life. */
export const BARE_COMMENT = ":\n\n";

/** One line of data, optionally after one line with a name, as nearly all servers write events. */
const PLAIN_EVENT = /^(?:event: ([^\r\n]+)\n)?data: [^\r\n]*\n\n$/;

/** Whether the event has this name. */
function hasName(text: string, name: string): boolean {
  if (/[\r\n]/.test(name)) return false;
  return text
    .split(/\r\n|\r|\n/)
    .some((line) => /^event: ?/.test(line) && line.replace(/^event: ?/, "") === name);
}
