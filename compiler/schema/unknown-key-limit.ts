import { formatPath } from "../diagnostics/diagnostic.ts";
import { type ConfigValue, isMapping } from "./config-values.ts";
import type { Schema } from "./schema.ts";

/**
 * A value in which each object has a limited number of unknown keys: a file with thousands of them is not a
 * configuration.
 */
export interface LimitedKeys {
  readonly value: ConfigValue;
  /** Number of unknown keys that were removed from an object, by its path. */
  readonly more: ReadonlyMap<string, number>;
}

/** Maximum number of unknown keys of an object that are reported; the others are only counted. */
const REPORTED = 100;

/** Removes the unknown keys that exceed the limit from a copy of the value. */
export function limitUnknownKeys(value: ConfigValue, schema: Schema): LimitedKeys {
  const more = new Map<string, number>();
  return { value: withLimit(value, schema, { path: [], more }), more };
}

interface Walk {
  /** Current path of the traversal. */
  readonly path: (string | number)[];
  readonly more: Map<string, number>;
}

function withLimit(value: ConfigValue, schema: Schema | undefined, walk: Walk): ConfigValue {
  if (schema === undefined || typeof value !== "object" || value === null) return value;
  if (isList(value)) {
    const items = value.map((item, index) => childWithLimit(item, schema.items, index, walk));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isMapping(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === "object" ? additionalProperties : undefined;
  // No prototype, so that `__proto__` is a key like any other.
  const copy: Record<string, ConfigValue> = Object.create(null);
  let isCopy = false;
  let unknown = 0;
  for (const key of Object.keys(value)) {
    const isKnown = Object.hasOwn(properties, key);
    if (!isKnown && additionalProperties === false) unknown += 1;
    if (!isKnown && unknown > REPORTED) continue;
    const child = value[key] ?? null;
    copy[key] = childWithLimit(child, isKnown ? properties[key] : others, key, walk);
    isCopy ||= copy[key] !== child;
  }
  if (unknown > REPORTED) walk.more.set(formatPath(walk.path), unknown - REPORTED);
  return isCopy || unknown > REPORTED ? copy : value;
}

function childWithLimit(
  value: ConfigValue,
  schema: Schema | undefined,
  step: string | number,
  walk: Walk,
): ConfigValue {
  walk.path.push(step);
  const limited = withLimit(value, schema, walk);
  walk.path.pop();
  return limited;
}

function isList(value: object): value is readonly ConfigValue[] {
  return Array.isArray(value);
}
