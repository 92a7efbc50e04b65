import { toJson } from "../functions/json.ts";
import { toText } from "./convert.ts";

/**
 * Returns the text of a CEL value for a header, a log field or a key: strings unchanged, scalars as in `string()`, lists and
 * maps as JSON; `undefined` for an error and for null.
 */
export function fieldText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return undefined;
  return toText(value) ?? toJson(value);
}
