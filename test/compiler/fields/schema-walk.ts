import type { ConfigValue } from "../../../compiler/schema/config-values.ts";
import { isWritable, type Schema } from "../../../compiler/schema/schema.ts";

/** A step from a value to a part of it: a key, any key of a map (`*`), or any item of a list (`[]`). */
export type Step = string;

/** A field of a schema. */
export interface SchemaField {
  /** `binds`, `[]`, `port` */
  readonly path: readonly Step[];
  readonly schema: Schema;
}

/** The fields whose values hold no other fields: they are what a configuration says. */
export function leavesOf(schema: Schema): readonly SchemaField[] {
  return fieldsOf(schema).filter((field) => {
    const { properties = {}, items, additionalProperties: rest } = field.schema;
    const inner = [
      ...Object.values(properties),
      items,
      typeof rest === "object" ? rest : undefined,
    ];
    return !inner.some((each) => each !== undefined && isWritable(each));
  });
}

/** Every field that can be written, without those that are not built yet or have no meaning in their place. */
export function fieldsOf(schema: Schema, path: readonly Step[] = []): readonly SchemaField[] {
  if (!isWritable(schema)) return [];
  const own = path.length === 0 ? [] : [{ path, schema }];
  const properties = Object.entries(schema.properties ?? {}).flatMap(([key, each]) =>
    fieldsOf(each, [...path, key]),
  );
  const items = schema.items === undefined ? [] : fieldsOf(schema.items, [...path, "[]"]);
  const rest = schema.additionalProperties;
  const values = typeof rest === "object" ? fieldsOf(rest, [...path, "*"]) : [];
  return [...own, ...properties, ...items, ...values];
}

/** A value with every field of a schema and arbitrary contents: the validator compiled for it serves all values. */
export function valueWithAll(
  schema: Schema,
  isLeftOut: (path: readonly Step[]) => boolean = () => false,
  path: readonly Step[] = [],
): ConfigValue {
  const { properties, additionalProperties: rest, items } = schema;
  if (items !== undefined) return [valueWithAll(items, isLeftOut, [...path, "[]"])];
  const map = typeof rest === "object" ? [["*", rest] as const] : [];
  const fields = [...Object.entries(properties ?? {}), ...map].map(
    ([key, each]) => [[...path, key], each] as const,
  );
  const values = fields
    .filter(([at]) => !isLeftOut(at))
    .map(([at, each]) => [at.at(-1), valueWithAll(each, isLeftOut, at)]);
  return values.length === 0 ? null : Object.fromEntries(values);
}

/** The schema of a part. */
export function partOf(schema: Schema, step: Step): Schema {
  const rest = schema.additionalProperties;
  const part =
    step === "[]"
      ? schema.items
      : (schema.properties?.[step] ?? (typeof rest === "object" ? rest : undefined));
  if (part === undefined) throw new Error(`no part ${step}`);
  return part;
}
