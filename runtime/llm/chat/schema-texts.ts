import { isJsonObject } from "../../json/json-object.ts";
import { parsedOrText } from "../../json/parsed-or-text.ts";
import { mapKeys, mapList, mapObject } from "./map-values.ts";
import type { TextPlace, WholeTexts } from "./whole-texts.ts";

/**
 * Replaces the texts of a JSON Schema that models read: names of members, and descriptions. Returns the schema itself if
 * nothing changes.
 */
export function mapSchema(schema: unknown, texts: WholeTexts, place: TextPlace): unknown {
  if (typeof schema === "string") return texts.replace(schema, place);
  const inside = (each: unknown): unknown => mapSchema(each, texts, place);
  if (Array.isArray(schema)) return mapList(schema, inside);
  if (!isJsonObject(schema)) return schema;
  const nameOf = (name: string): string => texts.replace(name, { ...place, isName: true });
  const mapped = mapObject(schema, (value, key) => {
    if (key === "type") return mapTypes(value, inside);
    if (key === "required" || key === "propertyOrdering") return mapNames(value, nameOf);
    if (REFERENCES.has(key)) return mapReference(value, nameOf);
    if (NAMED.has(key) && isJsonObject(value)) {
      return mapKeys(mapObject(value, key === DEPENDENT ? listOf(nameOf) : inside), nameOf);
    }
    const isValue = VALUES.has(key) && typeof value === "object" && value !== null;
    return isValue ? mapJson(value, texts, place) : inside(value);
  });
  const isOfKeywords = Object.keys(schema).every((key) => KEYWORDS.has(key));
  return isOfKeywords ? mapped : mapKeys(mapped, (key) => (KEYWORDS.has(key) ? key : nameOf(key)));
}

const DEPENDENT = "dependentRequired";

/** Keywords that hold schemas, or lists, by names. */
const NAMED: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", DEPENDENT],
]);

const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/** Keywords that hold values, whose members may have any name. */
const VALUES: ReadonlySet<string> = new Set(["enum", "const", "default", "example", "examples"]);

/** Keywords of JSON Schema 2020-12, of earlier drafts, and of OpenAPI. Members with any other name come from the client. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...[...NAMED, ...REFERENCES, ...VALUES],
  ...["$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"],
  ...["id", "type", "format", "title", "description", "deprecated", "readOnly", "writeOnly"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependencies"],
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"],
  ...["minItems", "maxItems", "uniqueItems", "minContains", "maxContains"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "required"],
  ...["minProperties", "maxProperties", "minLength", "maxLength", "pattern"],
  ...["contentEncoding", "contentMediaType", "contentSchema"],
  ...["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
  ...["nullable", "discriminator", "xml", "externalDocs", "strict", "propertyOrdering"],
]);

const TYPES: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "object", "array", "null"],
  ...["STRING", "NUMBER", "INTEGER", "BOOLEAN", "OBJECT", "ARRAY", "NULL", "TYPE_UNSPECIFIED"],
]);

/** Maps types; an unknown type is text. */
function mapTypes(value: unknown, change: (each: unknown) => unknown): unknown {
  const typeOf = (each: unknown): unknown => (TYPES.has(each) ? each : change(each));
  return Array.isArray(value) ? mapList(value, typeOf) : typeOf(value);
}

function mapNames(value: unknown, nameOf: (name: string) => string): unknown {
  if (!Array.isArray(value)) return value;
  return mapList(value, (each) => (typeof each === "string" ? nameOf(each) : each));
}

function listOf(nameOf: (name: string) => string): (value: unknown) => unknown {
  return (value) => mapNames(value, nameOf);
}

/** Renames the parts of a reference along with its target: `#/$defs/ann`. */
function mapReference(value: unknown, nameOf: (name: string) => string): unknown {
  return typeof value === "string" ? value.split("/").map(nameOf).join("/") : value;
}

/** Replaces the texts and member names of a value; returns the value itself if nothing changes. */
export function mapJson(value: object, texts: WholeTexts, place: TextPlace): unknown {
  const text = JSON.stringify(value);
  const changed = texts.replaceJson(text, place);
  return changed === text ? value : parsedOrText(changed);
}
