import { type Definitions, isObject, type JsonValue } from "./json-schema.ts";

/**
 * A schema with nothing but what a value is of: of variants, the one that has the value's `type` or `role`. By the whole
 * schema a wrong value is told as wrong in the way of every variant.
 */
export function narrowed(definitions: Definitions, schema: JsonValue, value: unknown): JsonValue {
  const narrow = (each: JsonValue, of: unknown): JsonValue => narrowed(definitions, each, of);
  if (!isObject(schema)) return schema;
  if (typeof schema.$ref === "string") return narrow(resolved(definitions, schema), value);
  const { anyOf, allOf, properties, items, unevaluatedProperties, ...others } = schema;
  const parts = [
    { ...others, ...(isObject(properties) && narrowedFields(narrow, properties, value)) },
    ...(Array.isArray(allOf) ? allOf.map((part) => narrow(part, value)) : []),
  ];
  if (items !== undefined) {
    const each = Array.isArray(value) ? value.map((item) => narrow(items, item)) : [];
    parts.push(each.length === 0 ? {} : { prefixItems: each });
  }
  if (Array.isArray(anyOf)) {
    const fitting = anyOf.filter((variant) => fits(definitions, variant, value));
    const variants = fitting.map((variant) => narrow(variant, value));
    parts.push(variants.length === 0 ? { anyOf } : { anyOf: variants });
  }
  return { allOf: parts, ...(unevaluatedProperties === false && { unevaluatedProperties }) };
}

function narrowedFields(
  narrow: (schema: JsonValue, value: unknown) => JsonValue,
  properties: Definitions,
  value: unknown,
): Definitions {
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return {
    properties: Object.fromEntries(
      fields.flatMap(([name, field]) => {
        const schema = properties[name];
        return schema === undefined ? [] : [[name, narrow(schema, field)]];
      }),
    ),
  };
}

/** Whether a value is meant to be of a schema. */
function fits(definitions: Definitions, schema: JsonValue, value: unknown): boolean {
  const whole = resolved(definitions, schema);
  if (!isObject(whole)) return true;
  const { type, anyOf, properties } = whole;
  if (Array.isArray(anyOf)) return anyOf.some((each) => fits(definitions, each, value));
  if (typeof type === "string" && !typesOf(value).includes(type)) return false;
  if (!isObject(properties) || typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, field]) => {
    const said = resolved(definitions, properties[name] ?? {});
    if ((name !== "type" && name !== "role") || !isObject(said)) return true;
    const words = said.const === undefined ? said.enum : [said.const];
    return !Array.isArray(words) || words.includes(field);
  });
}

function resolved(definitions: Definitions, schema: JsonValue): JsonValue {
  if (!isObject(schema) || typeof schema.$ref !== "string") return schema;
  return resolved(definitions, definitions[schema.$ref.replace("#/$defs/", "")] ?? {});
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  return Number.isInteger(value) ? ["integer", "number"] : [typeof value];
}
