import { type Definitions, isObject, type JsonValue } from "./json-schema.ts";

/** The same schemas with every field refused that they do not name: providers refuse those, and OpenAI's document is open. */
export function closed(definitions: Definitions): Definitions {
  const joined = new Set(
    [...JSON.stringify(definitions).matchAll(/"allOf":\[(.*?)\]/g)].flatMap(([, parts = ""]) =>
      [...parts.matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name),
    ),
  );
  for (const name of joined) {
    const { allOf } = fieldsOf(definitions[name ?? ""]);
    for (const part of Array.isArray(allOf) ? allOf : []) joined.add(nameOf(part));
  }
  return Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, close(schema, joined.has(name))]),
  );
}

/** `isPart`: other schemas are joined with it, which name further fields. */
function close(schema: JsonValue, isPart = false): JsonValue {
  if (Array.isArray(schema)) return schema.map((each) => close(each));
  if (!isObject(schema)) return schema;
  const { properties, allOf, additionalProperties } = schema;
  const inner = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    switch (key) {
      case "enum":
      case "const":
      case "required":
        return [key, value];
      case "properties":
        return [key, closeEach(value)];
      case "allOf":
        return [key, Array.isArray(value) ? value.map((part) => close(part, true)) : value];
      default:
        return [key, close(value)];
    }
  });
  const isOpen = (properties ?? allOf) !== undefined && additionalProperties === undefined;
  return {
    ...Object.fromEntries(inner),
    ...(isOpen && !isPart && { unevaluatedProperties: false }),
  };
}

function closeEach(schemas: JsonValue): JsonValue {
  return Object.fromEntries(
    Object.entries(fieldsOf(schemas)).map(([name, schema]) => [name, close(schema)]),
  );
}

function fieldsOf(value: JsonValue | undefined): Definitions {
  return isObject(value) ? value : {};
}

function nameOf(part: JsonValue): string {
  return String(fieldsOf(part).$ref).replace("#/$defs/", "");
}
