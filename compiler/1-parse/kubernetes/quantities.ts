import type { ConfigValue } from "../../schema/config-values.ts";
import { bytesOf, isQuantity } from "../../schema/quantity.ts";
import type { Schema } from "../../schema/schema.ts";
import { schemasInside } from "../../schema/schemas-inside.ts";

/** Whether a schema has numbers of bytes anywhere: most kinds don't, and their values stay as they are. */
export function hasQuantities(schema: Schema): boolean {
  return schemasInside(schema).some((part) => part.isQuantity === true || hasQuantities(part));
}

/** The value with every quantity as the bytes that it says; what is none stays as it is. */
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
