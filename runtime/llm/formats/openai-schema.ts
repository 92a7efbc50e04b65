import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { FittedSchema, RequestedSchema } from "../chat/fitted-schema.ts";
import { schemaViolation } from "../chat/schema-violation.ts";

/** Keywords that OpenAI's strict mode refuses (OpenAI: Structured outputs, Supported schemas). */
const REFUSED = [
  ...["allOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "patternProperties"],
  ...["unevaluatedProperties", "propertyNames", "minProperties", "maxProperties", "contains"],
  ...["prefixItems", "uniqueItems"],
];

/** Keywords whose values are schemas by name. */
const NAMED = ["properties", "$defs", "definitions"];

/**
 * Returns a schema as OpenAI takes it: objects without `additionalProperties` are closed. A schema that strict mode refuses, such
 * as one with optional properties, is sent without it, and OpenAI then follows it without enforcing it.
 */
export function fitOpenaiSchema({ schema, isStrict }: RequestedSchema): FittedSchema {
  if (isStrict !== true) return { schema, isStrict };
  const closed = withClosedObjects(schema);
  const isRootObject = isJsonObject(schema) && schema.anyOf === undefined;
  if (isRootObject && isAccepted(closed)) return { schema: closed, isStrict };
  return { schema, isStrict: false, check: (value) => schemaViolation(value, schema) };
}

function withClosedObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withClosedObjects);
  if (!isJsonObject(schema)) return schema;
  const members = Object.entries(schema).map(([key, value]) => {
    if (!NAMED.includes(key) || !isJsonObject(value)) {
      return [key, SCHEMAS.has(key) ? withClosedObjects(value) : value];
    }
    const named = Object.entries(value).map(([name, each]) => [name, withClosedObjects(each)]);
    return [key, Object.fromEntries(named)];
  });
  const isOpen = isObject(schema) && schema.additionalProperties === undefined;
  return { ...Object.fromEntries(members), ...(isOpen && { additionalProperties: false }) };
}

const SCHEMAS = new Set(["items", "anyOf"]);

function isAccepted(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isAccepted);
  if (!isJsonObject(schema)) return true;
  if (REFUSED.some((key) => schema[key] !== undefined)) return false;
  if (isObject(schema) && !isClosed(schema)) return false;
  const named = NAMED.flatMap((key) => Object.values(isJsonObject(schema[key]) ? schema[key] : {}));
  return [...named, schema.items, schema.anyOf].every(isAccepted);
}

function isObject({ type, properties }: JsonObject): boolean {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.includes("object") || properties !== undefined;
}

function isClosed({ properties, required, additionalProperties }: JsonObject): boolean {
  const names = Object.keys(isJsonObject(properties) ? properties : {});
  const listed: readonly unknown[] = Array.isArray(required) ? required : [];
  return additionalProperties === false && names.every((name) => listed.includes(name));
}
