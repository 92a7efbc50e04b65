import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import { noteOf } from "../schema-notes.ts";

/** Formats of numbers that Google accepts. */
export const NUMERIC_FORMATS: ReadonlySet<string> = new Set(["float", "double", "int32", "int64"]);

/** Keywords that are written, or that have no effect on what a model writes. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...["type", "title", "description", "default", "nullable", "anyOf", "oneOf", "properties"],
  ...["required", "items", "minItems", "maxItems", "minProperties", "maxProperties", "minimum"],
  ...["maximum", "pattern", "minLength", "maxLength", "$defs", "definitions"],
]);

/** Returns the keywords of a schema that Google's schemas cannot express. `kinds`: its types, without null. */
export function lostKeywords(schema: JsonObject, kinds: readonly string[]): readonly string[] {
  return Object.entries(schema).flatMap(([key, value]) =>
    WRITTEN.has(key) || isExpressed(key, value, kinds) ? [] : noteOf(key, value),
  );
}

/** Whether a keyword is written for values of these types, or allows any value. */
function isExpressed(key: string, value: unknown, kinds: readonly string[]): boolean {
  switch (key) {
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return !kinds.includes("number");
    case "format":
      return value === "date-time" || NUMERIC_FORMATS.has(String(value));
    case "enum":
    case "const":
      return !kinds.some((kind) => ["boolean", "object", "array"].includes(kind));
    case "additionalProperties":
      return !isJsonObject(value) || Object.keys(value).length === 0;
    default:
      return key === "uniqueItems" && value === false;
  }
}
