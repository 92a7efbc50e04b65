import { Ajv, type ValidateFunction } from "ajv";
import { type ConfigValue, isMapping } from "./config-values.ts";
import { parseDuration } from "./duration.ts";
import { formats } from "./formats.ts";
import { type Fields, isWritable, type Schema, type ValueCheck } from "./schema.ts";

/**
 * Compiles a schema with gwc's keywords and formats, reduced to the fields that the values use: compiling is the
 * expensive part, and an input uses few of all fields.
 */
export function compileSchema(schema: Schema, values: readonly ConfigValue[]): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    verbose: false,
    unicodeRegExp: true,
    allowUnionTypes: true,
    // The schema is gwc's own and is used once, so that checking it and optimizing its code would cost more than they
    // save.
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
    // A string that is not a duration is reported by its format.
    validate: (minimum: string, text: string) =>
      (parseDuration(text) ?? Number.POSITIVE_INFINITY) >= (parseDuration(minimum) ?? 0),
  });
  for (const [name, isOf] of Object.entries(formats)) ajv.addFormat(name, isOf);
  return ajv.compile(usedPart(schema, values));
}

/**
 * Returns the part of a schema that applies to the values: the fields that one of them has. Unsupported fields are
 * unknown to ajv; the report tells them apart.
 */
function usedPart(schema: Schema, values: readonly ConfigValue[]): Schema {
  const { properties, additionalProperties, items } = schema;
  const fields = properties === undefined ? undefined : usedFields(properties, values);
  const children = typeof additionalProperties === "object" ? otherValues(schema, values) : [];
  return {
    ...schema,
    ...(fields === undefined ? {} : { properties: fields }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: usedPart(additionalProperties, children) }
      : {}),
    ...(items === undefined
      ? {}
      : {
          items: usedPart(
            items,
            values.flatMap((each) => (Array.isArray(each) ? each : [])),
          ),
        }),
  };
}

function usedFields(properties: Fields, values: readonly ConfigValue[]): Fields {
  const mappings = values.filter(isMapping);
  const used = Object.entries(properties).flatMap(([name, each]) => {
    if (!isWritable(each)) return [];
    const inside = mappings.flatMap((value) =>
      Object.hasOwn(value, name) ? [value[name] ?? null] : [],
    );
    return inside.length === 0 ? [] : [[name, usedPart(each, inside)] as const];
  });
  return Object.fromEntries(used);
}

/** Returns the values of keys that a schema does not name. */
function otherValues(
  { properties = {} }: Schema,
  values: readonly ConfigValue[],
): readonly ConfigValue[] {
  return values
    .filter(isMapping)
    .flatMap((value) =>
      Object.entries(value).flatMap(([key, each]) =>
        Object.hasOwn(properties, key) ? [] : [each],
      ),
    );
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
