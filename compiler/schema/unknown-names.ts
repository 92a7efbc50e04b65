import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import { type ConfigValue, configValueAt } from "./config-values.ts";
import { type NameKind, type Schema, schemaAt } from "./schema.ts";
import { schemasInside } from "./schemas-inside.ts";

/**
 * Returns whether the value at a path may name something whose declaration has a mistake, so that it is unknown.
 * `broken` are the paths of the parts of the value that were removed or replaced.
 */
export function unknownNames(
  value: ConfigValue,
  schema: Schema,
  broken: readonly ConfigPath[],
): (path: ConfigPath) => boolean {
  // Few mistakes are followed by a reference, and a part with mistakes may be most of the schema.
  let unknown: ReadonlySet<string> | undefined;
  return (path) => {
    const { refersTo = [] } = schemaAt(schema, path) ?? {};
    if (refersTo.length === 0) return false;
    unknown ??= new Set(broken.flatMap((each) => declaredAt(each, value, schema)));
    return refersTo.some((kind) => unknown?.has(kind));
  };
}

/** Returns the kinds of names that a part declares. */
function declaredAt(path: ConfigPath, value: ConfigValue, schema: Schema): readonly string[] {
  const own = schemaAt(schema, path);
  const isRemoved = configValueAt(value, path) === undefined;
  const inside = own === undefined ? [] : declaredIn(own);
  const key = schemaAt(schema, path.slice(0, -1))?.propertyNames?.declares;
  return isRemoved && key !== undefined ? [key, ...inside] : inside;
}

function declaredIn(schema: Schema): readonly NameKind[] {
  const { declares, propertyNames } = schema;
  const own = [declares, propertyNames?.declares].filter((kind) => kind !== undefined);
  return [...own, ...schemasInside(schema).flatMap(declaredIn)];
}
