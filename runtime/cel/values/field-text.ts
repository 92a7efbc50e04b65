import { toJson } from "../functions/json.ts";
import { toText } from "./convert.ts";

/**
 * The text of a CEL value that becomes a header, a log field or a key: strings as they are, scalars as `string()` gives
 * them, lists and maps as JSON; undefined for an error and for null.
 */
export function fieldText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return undefined;
  return toText(value) ?? toJson(value);
}
