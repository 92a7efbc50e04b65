/** A value of parsed JSON or YAML. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** Definitions by their names, which refer to each other as `#/$defs/NAME`. */
export type Definitions = { readonly [name: string]: JsonValue };

/** The definitions that those of `roots` need. One that a document lacks (Google's do) lets everything through. */
export function definitionsFor(all: Definitions, roots: readonly string[]): Definitions {
  const found = new Set<string>(roots);
  for (const name of found) {
    const references = JSON.stringify(all[name] ?? {}).matchAll(/"#\/\$defs\/([^"]+)"/g);
    for (const [, other = ""] of references) found.add(other);
  }
  return Object.fromEntries([...found].sort().map((name) => [name, all[name] ?? true]));
}

/** The schemas of an OpenAPI document as JSON schema, without words for readers. */
export function fromOpenApi(schemas: Definitions): Definitions {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]));
}

/** What no request is refused for. */
const words = new Set([
  ...["description", "title", "example", "examples", "deprecated", "default", "externalDocs"],
  ...["discriminator", "readOnly", "writeOnly", "format", "$recursiveAnchor", "$recursiveRef"],
]);

function plain(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(plain);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).flatMap(([key, value]): [string, JsonValue][] => {
    if (words.has(key) || key.startsWith("x-") || key === "nullable") return [];
    if (key === "$ref") return [[key, String(value).replace("#/components/schemas/", "#/$defs/")]];
    // Variants overlap in these documents: a request may be of several.
    if (key === "oneOf") return [["anyOf", plain(value)]];
    if (key === "properties" && isObject(value)) return [[key, fromOpenApi(value)]];
    return [[key, key === "enum" || key === "const" ? value : plain(value)]];
  });
  const own = Object.fromEntries(kept);
  // A word of OpenAPI 3.0 that has stayed in documents of 3.1.
  return schema.nullable === true ? { anyOf: [own, { type: "null" }] } : own;
}

/** The schemas of a discovery document of Google's as JSON schema: its servers refuse every other field. */
export function fromDiscovery(schemas: Definitions): Definitions {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, discovered(schema)]),
  );
}

function discovered(schema: JsonValue): JsonValue {
  if (!isObject(schema)) return {};
  const { $ref: reference, type, format, items, properties, additionalProperties: others } = schema;
  if (typeof reference === "string") return { $ref: `#/$defs/${reference}` };
  switch (type) {
    case "any":
      return {};
    case "array":
      return { type, items: discovered(items ?? {}) };
    case "object":
      return {
        type,
        ...(isObject(properties) && { properties: fromDiscovery(properties) }),
        additionalProperties: others === undefined ? properties === undefined : discovered(others),
      };
    default:
      // Numbers of 64 bits are texts, and are read from numbers too.
      if (format === "int64") return { type: ["string", "integer"], pattern: "^-?\\d+$" };
      return { type: type ?? "string", ...(schema.enum !== undefined && { enum: schema.enum }) };
  }
}

/** The shapes of a service of AWS as JSON schema: what stands in a path, a query or a header is left out. */
export function fromShapes(shapes: Definitions): Definitions {
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, shaped(shape)]));
}

function shaped(shape: JsonValue): JsonValue {
  if (!isObject(shape)) return {};
  const { type, min, max, pattern, member, value } = shape;
  const limits = (least: string, most: string): Definitions => ({
    ...(min !== undefined && { [least]: min }),
    ...(max !== undefined && { [most]: max }),
  });
  switch (type) {
    case "structure":
      return shape.document === true ? {} : structure(shape);
    case "list":
      return { type: "array", items: shapeReference(member), ...limits("minItems", "maxItems") };
    case "map":
      return {
        type: "object",
        additionalProperties: shapeReference(value),
        ...limits("minProperties", "maxProperties"),
      };
    case "string":
      return {
        type,
        ...limits("minLength", "maxLength"),
        ...(pattern !== undefined && { pattern: whole(String(pattern)) }),
        ...(shape.enum !== undefined && { enum: shape.enum }),
      };
    case "blob":
      return { type: "string", pattern: "^[A-Za-z0-9+/]*={0,2}$" };
    case "boolean":
      return { type };
    case "integer":
    case "long":
      return { type: "integer", ...limits("minimum", "maximum") };
    default:
      return { type: "number", ...limits("minimum", "maximum") };
  }
}

function structure({ members, required, union }: Definitions): JsonValue {
  const inBody = Object.entries(isObject(members) ? members : {}).filter(
    ([, member]) => !isObject(member) || member.location === undefined,
  );
  const names = inBody.map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(inBody.map(([name, member]) => [name, shapeReference(member)])),
    additionalProperties: false,
    ...(Array.isArray(required) && {
      required: required.filter((name) => names.includes(String(name))),
    }),
    ...(union === true && { minProperties: 1, maxProperties: 1 }),
  };
}

function shapeReference(member: JsonValue | undefined): JsonValue {
  return isObject(member) ? { $ref: `#/$defs/${String(member.shape)}` } : {};
}

/** Patterns of AWS are of the whole text. */
function whole(pattern: string): string {
  return /^\^.*\$$/.test(pattern) ? pattern : `^(?:${pattern})$`;
}

/** Whether a value is an object. */
export function isObject(value: JsonValue | undefined): value is Definitions {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
