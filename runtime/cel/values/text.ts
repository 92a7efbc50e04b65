import { toJson } from "../functions/json.ts";
import { decodeText, toText } from "./convert.ts";

/**
 * The text of a value where text is wanted, in a header, a log field, a rate limit's key: a string as it is, bytes as
 * UTF-8, numbers, bools and times as `string()` writes them, lists and maps as JSON, null as `null`. Undefined for an error
 * and for what has no text.
 */
export function writtenText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return decodeText(value);
  return toText(value) ?? toJson(value);
}
