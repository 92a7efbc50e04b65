import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../diagnostics/diagnostic.ts";
import type { ConfigValue, ReadValue } from "../schema/config-values.ts";
import { isMapping } from "../schema/config-values.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";

/** Removes fields that gwc accepts without effect, and reports them. Removes mappings that are left empty, too. */
export function withoutIgnored(
  read: ReadValue,
  schema: Schema,
  origin: Origin,
  diagnostics: Diagnostics,
): ReadValue {
  const remove = (value: ConfigValue, shape: Schema | undefined, path: ConfigPath): ConfigValue => {
    if (shape === undefined) return value;
    if (isList(value))
      return value.map((item, index) => remove(item, shape.items, [...path, index]));
    if (!isMapping(value)) return value;
    const { properties = {}, additionalProperties } = shape;
    const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
    // Fields of an empty mapping that are indented too little are unknown next to it, which is reported there.
    const hasKnownKeys =
      others !== undefined || Object.keys(value).every((key) => Object.hasOwn(properties, key));
    const kept = Object.entries(value).flatMap(([key, child]) => {
      const own = Object.hasOwn(properties, key) ? properties[key] : others;
      const at = [...path, key];
      if (own?.ignored !== undefined) {
        const { ignored: why, instead } = own;
        const place = keyPlace(childOf(origin, ...at));
        diagnostics.report("ignored-field", place, { field: key, why, instead });
        return [];
      }
      if (child === null && own?.mayBeEmpty === true && hasKnownKeys) {
        const params = { field: key, why: "it is empty", instead: "remove it" };
        diagnostics.report("ignored-field", keyPlace(childOf(origin, ...at)), params);
        return [];
      }
      const rest = remove(child, own, at);
      // A mapping of ignored fields only is one itself.
      return isEmpty(rest) && !isEmpty(child) ? [] : [[key, rest] as const];
    });
    // No prototype, so that `__proto__` is a key like any other.
    return Object.assign(Object.create(null), Object.fromEntries(kept));
  };
  return { ...read, value: remove(read.value, schema, []) };
}

/** Whether a place is in a field that gwc accepts without effect. */
export function isIgnored(schema: Schema, path: ConfigPath): boolean {
  return path.some((_, index) => schemaAt(schema, path.slice(0, index + 1))?.ignored !== undefined);
}

function isEmpty(value: ConfigValue): boolean {
  return isMapping(value) && Object.keys(value).length === 0;
}

function isList(value: ConfigValue): value is readonly ConfigValue[] {
  return Array.isArray(value);
}
