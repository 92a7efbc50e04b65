import type { ConfigPath, Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import { type EnvTemplate, shownText } from "../model/texts.ts";
import type { ConfigValue } from "./config-values.ts";
import type { Schema } from "./schema.ts";
import { validator } from "./validate.ts";

/**
 * Validates a part of a validated value whose schema is only known later, because another file defines it. Reports every
 * mistake at its smallest node; `whole` is the name of the part in messages.
 */
export function validatedPart<Value>(
  schema: Schema<Value>,
  value: unknown,
  whole: string,
  origin: Origin,
  diagnostics: Diagnostics,
): Value | undefined {
  const envTemplates: { path: ConfigPath; text: EnvTemplate }[] = [];
  const read = (each: unknown, path: ConfigPath): ConfigValue => {
    if (Array.isArray(each)) return each.map((item, index) => read(item, [...path, index]));
    if (isTemplate(each)) {
      envTemplates.push({ path, text: each });
      return shownText(each);
    }
    if (typeof each === "object" && each !== null) {
      const record: Record<string, ConfigValue> = Object.create(null);
      for (const [key, item] of Object.entries(each)) record[key] = read(item, [...path, key]);
      return record;
    }
    return typeof each === "string" || typeof each === "number" || typeof each === "boolean"
      ? each
      : null;
  };
  const part = { value: read(value, []), envTemplates, expanded: [] };
  return validator(schema, [part.value], whole).whole(part, origin, diagnostics);
}

function isTemplate(value: unknown): value is EnvTemplate {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    value.kind === "env" &&
    "parts" in value
  );
}
