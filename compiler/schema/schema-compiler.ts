import { Ajv, type ValidateFunction } from "ajv";
import { type ConfigValue, isMapping } from "./config-values.ts";
import { parseDuration } from "./duration.ts";
import { formats } from "./formats.ts";
import { type Fields, isWritable, type Schema, type ValueCheck } from "./schema.ts";

/**
 * Compiles a schema for these values, reduced to the fields that they use: compiling is the expensive part, and an input
 * uses few of all fields.
 */
export function compileSchema(schema: Schema, values: readonly ConfigValue[]): ValidateFunction {
  return compileFields(schema, usedFields(schema, values));
}

/** Compiles these fields of a schema with gwc's keywords and formats. */
export function compileFields(schema: Schema, used: ReadonlySet<string>): ValidateFunction {
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
  return ajv.compile(usedPart(schema, "", used));
}

/**
 * Returns the fields of a schema that one of the values has, by their paths. Unsupported fields are unknown to ajv; the
 * report tells them apart.
 */
export function usedFields(schema: Schema, values: readonly ConfigValue[]): ReadonlySet<string> {
  const used = new Set<string>();
  addUsedFields(schema, values, "", used);
  return used;
}

function addUsedFields(
  schema: Schema,
  values: readonly ConfigValue[],
  path: string,
  used: Set<string>,
): void {
  const { properties, additionalProperties, items } = schema;
  if (properties !== undefined) {
    const mappings = values.filter(isMapping);
    for (const name of new Set(mappings.flatMap((value) => Object.keys(value)))) {
      const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (field === undefined || !isWritable(field)) continue;
      const inside = mappings.flatMap((value) =>
        Object.hasOwn(value, name) ? [value[name] ?? null] : [],
      );
      used.add(fieldPath(path, name));
      addUsedFields(field, inside, fieldPath(path, name), used);
    }
  }
  if (typeof additionalProperties === "object")
    addUsedFields(additionalProperties, otherValues(schema, values), path + OTHERS, used);
  if (items === undefined) return;
  const inside = values.flatMap((each) => (Array.isArray(each) ? each : []));
  addUsedFields(items, inside, path + ITEMS, used);
}

/** Steps to the schemas of items and of keys without a name, which no name of a field contains. */
const ITEMS = "\n[]";
const OTHERS = "\n{}";

function fieldPath(path: string, name: string): string {
  return `${path}\n${name}`;
}

/** Returns a schema with only these fields. */
function usedPart(schema: Schema, path: string, used: ReadonlySet<string>): Schema {
  const { properties, additionalProperties, items } = schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: partOf(properties, path, used) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: usedPart(additionalProperties, path + OTHERS, used) }
      : {}),
    ...(items === undefined ? {} : { items: usedPart(items, path + ITEMS, used) }),
  };
}

function partOf(properties: Fields, path: string, used: ReadonlySet<string>): Fields {
  const own = Object.entries(properties).flatMap(([name, each]) => {
    const at = fieldPath(path, name);
    return used.has(at) ? [[name, usedPart(each, at, used)] as const] : [];
  });
  return Object.fromEntries(own);
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
