import { QUANTITY } from "../../schema/quantity.ts";
import { isWritable, type Schema } from "../../schema/schema.ts";
import { withSharedParts } from "./shared-parts.ts";
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

function standard(schema: Schema): JsonSchema {
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
