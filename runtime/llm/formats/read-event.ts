import type { JsonObject } from "../../cel/variables.ts";
import { hasRepeatedKey } from "../../json/json-text.ts";
import { mapNames } from "../chat/texts.ts";
import type { WholeTexts } from "../chat/whole-texts.ts";
import { dataOf } from "./event-bytes.ts";
import { parseObject } from "./parse-object.ts";
import { fillingOf } from "./repeated-event.ts";

/** An event of a guarded stream: `bytes` and `text` hold what is read of it, and nothing else. */
export interface ReadEvent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly data: string;
  /** The object of the data; undefined: it has none. */
  readonly object: JsonObject | undefined;
}

/**
 * Reads an event. Comments, ids, times to wait, unknown lines and names that are not those of the object's type are left
 * out: no guard reads them, and clients can show them. Of a key that stands twice the value stays that was read. Names of
 * members that no API has are guarded. Undefined: it has no data.
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
  const said = isOther ? JSON.stringify(object) : data;
  const written = `${line}data: ${said.replaceAll("\n", "\ndata: ")}\n\n`;
  return { bytes: Buffer.from(written), text: written, data: said, object };
}

/** An object with a filling that says nothing in the place of its own; the object itself if it has none. */
function unfilled(object: JsonObject): JsonObject {
  const { obfuscation } = object;
  if (typeof obfuscation !== "string") return object;
  return { ...object, obfuscation: fillingOf(obfuscation.length) };
}

/** What a client gets for an event without data: a sign of life. */
export const BARE_COMMENT = ":\n\n";

/** One line of data, and at most one with a name before it, in the writing of nearly all servers. */
const PLAIN_EVENT = /^(?:event: ([^\r\n]+)\n)?data: [^\r\n]*\n\n$/;

/** Whether the event has this name. */
function hasName(text: string, name: string): boolean {
  if (/[\r\n]/.test(name)) return false;
  return text
    .split(/\r\n|\r|\n/)
    .some((line) => /^event: ?/.test(line) && line.replace(/^event: ?/, "") === name);
}
