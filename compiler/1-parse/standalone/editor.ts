import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { CachedByObject } from "../../cached-results.ts";
import { QUANTITY } from "../../schema/quantity.ts";
import { isWritable, type Schema } from "../../schema/schema.ts";
import { standaloneSchema } from "./standalone.ts";

/** A schema with only the keywords of JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the schema of the standalone file for editors: gwc's own keywords are translated, unsupported features
 * omitted.
 */
export function editorSchema(): JsonSchema {
  return withSharedParts(fileSchema("gateway", standaloneSchema()));
}

/** Returns the schema of a file for editors; `name` is the kind of file. */
export function fileSchema(name: string, schema: Schema): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `https://gwc.dev/schemas/${name}.schema.json`,
    ...standard(schema),
  };
}

/** Keywords with the same meaning in JSON Schema. */
const PLAIN: readonly (keyof Schema)[] = [
  "title",
  "description",
  "required",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "maxProperties",
  "minProperties",
  "uniqueItems",
  "default",
  "examples",
];

/** Shapes by their schemas: many fields share one, and are then compared by identity. */
const shapes = new CachedByObject<Schema, JsonSchema>();

function standard(schema: Schema): JsonSchema {
  return shapes.of(schema, () => standardShape(schema));
}

function standardShape(schema: Schema): JsonSchema {
  const { properties = {}, additionalProperties, items, propertyNames } = schema;
  const built = Object.entries(properties).filter(([, each]) => isWritable(each));
  const names = new Set(built.map(([name]) => name));
  const shape = { type: schema.type, built: names };
  const conditions = [
    ...oneOfFields("oneOf", schema.exactlyOneOf, shape),
    ...oneOfFields("anyOf", schema.atLeastOneOf, shape),
    ...atMostOneField(schema.atMostOneOf, names),
  ];
  return {
    ...Object.fromEntries(PLAIN.flatMap((word) => (word in schema ? [[word, schema[word]]] : []))),
    ...scalar(schema),
    ...(built.length === 0
      ? {}
      : { properties: Object.fromEntries(built.map(([name, each]) => [name, standard(each)])) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === "boolean"
              ? additionalProperties
              : standard(additionalProperties),
        }),
    ...(items === undefined ? {} : { items: standard(items) }),
    ...(propertyNames === undefined ? {} : { propertyNames: { pattern: propertyNames.pattern } }),
    ...(conditions.length === 0 ? {} : { allOf: conditions }),
  };
}

/** Any scalar may be `${NAME}`. */
const VARIABLE = "\\$\\{";
/** Pattern of `1h30m`, `1.5s`, `0`. */
const DURATION = "^(0|([0-9]+(\\.[0-9]*)?(h|ms|m|s|us|µs|ns))+)$";

function scalar({ type, enum: words, pattern, format, isQuantity }: Schema): JsonSchema {
  if (isQuantity === true)
    return { type: ["integer", "string"], pattern: `${QUANTITY}|${VARIABLE}` };
  if (type === "integer" || type === "number" || type === "boolean")
    return { type: [type, "string"], pattern: VARIABLE };
  if (words !== undefined)
    return { anyOf: [{ enum: words }, { type: "string", pattern: VARIABLE }] };
  const own = format === "duration" ? DURATION : pattern;
  return {
    ...(type === undefined ? {} : { type }),
    ...(own === undefined ? {} : { pattern: `${own}|${VARIABLE}` }),
  };
}

function oneOfFields(
  word: "oneOf" | "anyOf",
  fields: readonly string[] | undefined,
  { type, built }: { readonly type: Schema["type"]; readonly built: ReadonlySet<string> },
): readonly JsonSchema[] {
  const known = fields?.filter((name) => built.has(name)) ?? [];
  if (known.length === 0) return [];
  const condition = { [word]: known.map((name) => ({ required: [name] })) };
  // For a value that may also be a string, the condition only applies to objects.
  return [type === "object" ? condition : { if: { not: { type: "object" } }, else: condition }];
}

function atMostOneField(
  fields: readonly string[] | undefined,
  built: ReadonlySet<string>,
): readonly JsonSchema[] {
  const known = fields?.filter((name) => built.has(name)) ?? [];
  return known.flatMap((first, index) =>
    known.slice(index + 1).map((second) => ({ not: { required: [first, second] } })),
  );
}

/** A JSON schema, or a part of one. */
type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/** Minimum length of a shared shape in characters: a reference has a cost too. */
const WORTH_SHARING = 500;

/**
 * Moves shapes of properties that occur in several places to `$defs`. Connection settings, for example, are the same
 * everywhere, and editors are slow with a schema that repeats them.
 */
function withSharedParts(schema: JsonObject): JsonObject {
  const counts = new Map<string, number>();
  countShapes(schema, counts);
  const names = new Map<string, string>();
  const definitions: Record<string, Json> = {};
  const members = (object: JsonObject): JsonObject =>
    mapEntries(object, (part, key) =>
      key === "properties" && isJsonObject(part) ? mapEntries(part, shape) : share(part),
    );
  const share = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(share);
    return isJsonObject(value) ? members(value) : value;
  };
  const shape = (value: Json, property: string): Json => {
    const text = textOf(value);
    if (text.length < WORTH_SHARING || counts.get(text) === 1) return share(value);
    const known = names.get(text);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const name = freeName(property, definitions);
    names.set(text, name);
    // Reserves the name before inner shapes need one.
    definitions[name] = {};
    definitions[name] = share(value);
    return { $ref: `#/$defs/${name}` };
  };
  return { ...members(schema), $defs: definitions };
}

/** Counts the occurrences of each shape of a property, up to two: those inside a shape that occurs often are not read again. */
function countShapes(
  value: Json,
  counts: Map<string, number>,
  visits = new Map<JsonObject, number>(),
): void {
  if (Array.isArray(value)) for (const each of value) countShapes(each, counts, visits);
  if (!isJsonObject(value)) return;
  const before = visits.get(value) ?? 0;
  if (before > 1) return;
  visits.set(value, before + 1);
  for (const [key, part] of Object.entries(value)) {
    if (key === "properties" && isJsonObject(part)) {
      for (const property of Object.values(part)) {
        const text = textOf(property);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
    }
    countShapes(part, counts, visits);
  }
}

const texts = new CachedByObject<JsonObject, string>();

/** Returns the JSON of a shape. */
function textOf(value: Json): string {
  return isJsonObject(value) ? texts.of(value, () => JSON.stringify(value)) : JSON.stringify(value);
}

function freeName(property: string, definitions: JsonObject): string {
  let name = property;
  for (let count = 2; Object.hasOwn(definitions, name); count++) name = `${property}${count}`;
  return name;
}

function mapEntries(object: JsonObject, change: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}
