import { toJson } from "../functions/json.ts";
import { decodeText, toText } from "./convert.ts";

/**
 * Returns the text of a value for a header, a log field or a rate limit's key: strings unchanged, bytes as UTF-8, numbers,
 * bools and times as in `string()`, lists and maps as JSON, null as `null`. `undefined` for an error and for values without
 * text.
 */
export function writtenText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return decodeText(value);
  return toText(value) ?? toJson(value);
}
