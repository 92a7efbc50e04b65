import { type ConfigPath, childOf, formatPath, type Place } from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import {
  type ConfigMapping,
  type ConfigValue,
  configValueAt,
  isMapping,
  type ReadValue,
} from "./config-values.ts";
import type { Schema } from "./schema.ts";
import { hasField, knownFields } from "./suggested-field.ts";

/** A part in the wrong place or of the wrong kind, and the schema of what it means. */
export interface MeantPart {
  readonly schema: Schema;
  readonly read: ReadValue;
  readonly place: Place;
}

/**
 * Returns the parts of a value in the wrong place whose meaning is known, so that its own mistake does not hide those
 * inside: a mapping or list where the meant field takes one, and the items of a list in place of a mapping and
 * conversely. Empty if nothing in it shows that the meaning is right.
 */
export function meantParts(
  schema: Schema,
  path: ConfigPath,
  whole: ReadValue,
  place: Place,
): readonly MeantPart[] {
  const read = partOf(whole, path);
  const { value } = read;
  const types = [schema.type ?? []].flat();
  const part = { schema, read, place };
  if (Array.isArray(value)) {
    if (types.includes("array")) return areLike(schema.items ?? {}, value) ? [part] : [];
    const items = value.map((_, index) => {
      return { schema, read: partOf(read, [index]), place: childOf(place, index) };
    });
    return items.filter((item) => isLike(schema, item.read.value));
  }
  if (types.includes("object") && isLike(schema, value)) return [part];
  const { items } = schema;
  return items !== undefined && isLike(items, value) ? [{ ...part, schema: items }] : [];
}

/**
 * Chooses what an unknown key means: `known`, the field that its name suggests, or a wrapper of fields of the object
 * around it, such as `policies` where each policy is a field. `undefined` if neither is known.
 */
export function meantSchema(
  known: Schema | undefined,
  owner: Schema | undefined,
  value: ConfigValue,
): Schema | undefined {
  if (owner === undefined || !isMapping(value)) return known;
  const { properties = {}, misplacedFieldHints = {} } = owner;
  const own = likeness(owner, value);
  if (own === 0 || own <= (known === undefined ? 0 : likeness(known, value))) return known;
  return { type: "object", properties, additionalProperties: false, misplacedFieldHints };
}

/** Whether a value is a mapping with a field of the schema, or any mapping if the schema is one of names. */
function isLike(schema: Schema, value: ConfigValue): boolean {
  if (!isMapping(value)) return false;
  const fields = knownFields(schema);
  return fields.length === 0
    ? schema.additionalProperties !== undefined
    : likeness(schema, value) > 0 ||
        Object.keys(value).some((key) => suggest(key, fields) !== undefined);
}

/** Whether a list has an item like those of a schema. */
function areLike(items: Schema, values: readonly ConfigValue[]): boolean {
  const isOfObjects = [items.type ?? []].flat().includes("object");
  return values.some((value) => (isOfObjects ? isLike(items, value) : !isMapping(value)));
}

/** Returns the number of keys that are fields of the schema. */
function likeness(schema: Schema, value: ConfigMapping): number {
  return Object.keys(value).filter((key) => hasField(schema, key)).length;
}

/** Returns a part of a read value. */
export function partOf({ value, expanded }: ReadValue, path: ConfigPath): ReadValue {
  const own = expanded.filter(
    (each) => formatPath(each.path.slice(0, path.length)) === formatPath(path),
  );
  return {
    // A path into a configuration leads to one.
    value: configValueAt(value, path) as ConfigValue,
    envTemplates: [],
    expanded: own.map((each) => ({ ...each, path: each.path.slice(path.length) })),
  };
}
