import { toJson } from "../../cel/functions/json.ts";
import type { JsonObject } from "../../cel/variables.ts";

/** The values of expressions as JSON has them; those that failed, or that JSON has not, are left out. */
export function plainValues(values: JsonObject): JsonObject {
  const plain: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    const text = toJson(value);
    if (text !== undefined) plain[name] = JSON.parse(text);
  }
  return plain;
}
