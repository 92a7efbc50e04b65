import type { ConfigValue } from "../../schema/config-values.ts";
import type { Schema } from "../../schema/schema.ts";
import { schemasInside } from "../../schema/schemas-inside.ts";

/** Whether a schema has alternative spellings: most kinds have none, and their values are not copied. */
export function hasAliases(schema: Schema): boolean {
  return schemasInside(schema).some((part) => part.aliasOf !== undefined || hasAliases(part));
}

/** Returns the value with every field under its canonical name. */
export function withoutAliases(value: ConfigValue, schema: Schema | undefined): ConfigValue {
  if (schema === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return schema.items === undefined
      ? value
      : value.map((item: ConfigValue) => withoutAliases(item, schema.items));
  }
  const { properties, additionalProperties } = schema;
  if (properties === undefined && typeof additionalProperties !== "object") return value;
  const record: Record<string, ConfigValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    const own =
      properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const rest = typeof additionalProperties === "object" ? additionalProperties : undefined;
    record[own?.aliasOf ?? key] = withoutAliases(item as ConfigValue, own ?? rest);
  }
  return record;
}
