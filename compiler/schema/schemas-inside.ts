import type { Schema } from "./schema.ts";

/** Returns the schemas directly inside a schema: of its fields, named or not, and of its items. */
export function schemasInside(schema: Schema): readonly Schema[] {
  const { properties = {}, additionalProperties, items } = schema;
  return [
    ...Object.values(properties),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
    ...(items === undefined ? [] : [items]),
  ];
}
