import { toJson } from "../../cel/functions/json.ts";
import type { JsonObject } from "../../cel/variables.ts";

/** Converts the values of expressions to JSON values; failed and inexpressible ones are omitted. */
export function plainValues(values: JsonObject): JsonObject {
  const plain: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    const text = toJson(value);
    if (text !== undefined) plain[name] = JSON.parse(text);
  }
  return plain;
}
