import { mapKeys, mapList, mapObject, parsed } from "./map-values.ts";
import { isJsonObject } from "./request-object.ts";
import type { TextPlace, WholeTexts } from "./whole-texts.ts";

/**
 * A JSON schema with its texts replaced, as models read it: names of members, and what is said of them; the schema itself
 * when no text changes.
 */
export function mapSchema(schema: unknown, texts: WholeTexts, place: TextPlace): unknown {
  if (typeof schema === "string") return texts.replace(schema, place);
  const inside = (each: unknown): unknown => mapSchema(each, texts, place);
  if (Array.isArray(schema)) return mapList(schema, inside);
  if (!isJsonObject(schema)) return schema;
  const nameOf = (name: string): string => texts.replace(name, { ...place, isName: true });
  const mapped = mapObject(schema, (value, key) => {
    if (key === "type") return mapTypes(value, inside);
    if (key === "required") return mapNames(value, nameOf);
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

/** What holds schemas, or lists, by names. */
const NAMED: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", DEPENDENT],
]);

const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

/** What holds values, whatever their members are called. */
const VALUES: ReadonlySet<string> = new Set(["enum", "const", "default", "example", "examples"]);

/** Words of JSON Schema 2020-12, of the drafts before it, and of OpenAPI; a member of any other name is the client's own. */
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
  ...["nullable", "discriminator", "xml", "externalDocs", "strict"],
]);

const TYPES: ReadonlySet<unknown> = new Set([
  ...["string", "number", "integer", "boolean", "object", "array", "null"],
]);

/** A type that schemas do not have is a text. */
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

/** A reference leads to what its names are now: `#/$defs/ann`. */
function mapReference(value: unknown, nameOf: (name: string) => string): unknown {
  return typeof value === "string" ? value.split("/").map(nameOf).join("/") : value;
}

/** A value with its texts and the names of its members replaced; the value itself when none changes. */
export function mapJson(value: object, texts: WholeTexts, place: TextPlace): unknown {
  const text = JSON.stringify(value);
  const changed = texts.replaceJson(text, place);
  return changed === text ? value : parsed(changed);
}
