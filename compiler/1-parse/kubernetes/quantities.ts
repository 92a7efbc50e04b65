import type { ConfigValue } from "../../schema/config-values.ts";
import { bytesOf, isQuantity } from "../../schema/quantity.ts";
import type { Schema } from "../../schema/schema.ts";
import { schemasInside } from "../../schema/schemas-inside.ts";

/** Whether a schema has byte quantities: most kinds have none, and their values are not copied. */
export function hasQuantities(schema: Schema): boolean {
  return schemasInside(schema).some((part) => part.isQuantity === true || hasQuantities(part));
}

/** Returns the value with every quantity converted to bytes; other values are unchanged. */
export function withBytes(value: ConfigValue, schema: Schema | undefined): ConfigValue {
  if (schema === undefined) return value;
  if (typeof value === "string")
    return schema.isQuantity === true && isQuantity(value) ? bytesOf(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return schema.items === undefined
      ? value
      : value.map((item: ConfigValue) => withBytes(item, schema.items));
  }
  const { properties = {}, additionalProperties } = schema;
  const rest = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const record: Record<string, ConfigValue> = Object.create(null);
  for (const [key, item] of Object.entries(value)) {
    const own = Object.hasOwn(properties, key) ? properties[key] : rest;
    record[key] = withBytes(item as ConfigValue, own);
  }
  return record;
}
