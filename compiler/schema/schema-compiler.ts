import { Ajv, type ValidateFunction } from "ajv";
import { parseDuration } from "./duration.ts";
import { formats } from "./formats.ts";
import { isWritable, type Schema, type ValueCheck } from "./schema.ts";

/**
 * Compiles a schema with gwc's own keywords and formats, for values whose mappings have no other keys than `keys`. Done
 * once per schema and input: it is the expensive part, and an input uses few of the fields there are.
 */
export function compileSchema(schema: Schema, keys: ReadonlySet<string>): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    verbose: false,
    unicodeRegExp: true,
    allowUnionTypes: true,
    // The schema is ours and is used once: checking it and polishing its code cost more than they bring.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  ajv.addKeyword({
    keyword: "checks",
    type: "object",
    errors: false,
    validate: (checks: readonly ValueCheck[], value: Readonly<Record<string, unknown>>) =>
      checks.every((check) => check.holds(value)),
  });
  addCountKeyword(ajv, "exactlyOneOf", (count) => count === 1);
  addCountKeyword(ajv, "atLeastOneOf", (count) => count >= 1);
  addCountKeyword(ajv, "atMostOneOf", (count) => count <= 1);
  ajv.addKeyword({
    keyword: "minimumDuration",
    type: "string",
    schemaType: "string",
    errors: false,
    // A text that is no duration is a mistake of its format.
    validate: (minimum: string, text: string) =>
      (parseDuration(text) ?? Number.POSITIVE_INFINITY) >= (parseDuration(minimum) ?? 0),
  });
  for (const [name, isOf] of Object.entries(formats)) ajv.addFormat(name, isOf);
  return ajv.compile(usedPart(schema, keys));
}

/**
 * The part of a schema that says something about such values. What is not built yet is an unknown field to ajv, and
 * told apart when it is reported.
 */
function usedPart(schema: Schema, keys: ReadonlySet<string>): Schema {
  const { properties, additionalProperties, items } = schema;
  const used = Object.entries(properties ?? {}).filter(
    ([name, each]) => isWritable(each) && keys.has(name),
  );
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(used.map(([name, each]) => [name, usedPart(each, keys)])),
        }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: usedPart(additionalProperties, keys) }
      : {}),
    ...(items === undefined ? {} : { items: usedPart(items, keys) }),
  };
}

function addCountKeyword(ajv: Ajv, keyword: string, holds: (count: number) => boolean): void {
  ajv.addKeyword({
    keyword,
    type: "object",
    schemaType: "array",
    errors: false,
    validate: (names: readonly string[], value: object) =>
      holds(names.filter((name) => Object.hasOwn(value, name)).length),
  });
}
