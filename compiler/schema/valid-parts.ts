import type { ErrorObject, ValidateFunction } from "ajv";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { ConfigValue } from "./config-values.ts";
import { configValueAt, pointerPath } from "./config-values.ts";
import { type Schema, schemaAt } from "./schema.ts";

/** A value without the parts that have mistakes. */
export interface ValidParts<Value> {
  /** `undefined` if a mistake belongs to no part. */
  readonly value: Value | undefined;
  /** The paths of the parts that were removed or replaced. */
  readonly broken: readonly ConfigPath[];
}

/**
 * Removes the parts with mistakes from a value in place: fields are deleted, items of a list become `undefined` so that the
 * others keep their index. `unknown` are places whose value is not known, such as those of unset variables.
 */
export function validParts(
  value: ConfigValue,
  schema: Schema,
  validate: ValidateFunction,
  unknown: readonly ConfigPath[],
): ValidParts<ConfigValue> {
  const broken: ConfigPath[] = [];
  let found = unknown;
  // Removing a part can break the one around it, which is then removed in the next round.
  do {
    for (const part of found.map((path) => partOf(path, schema))) {
      if (part.length === 0) return { value: undefined, broken: [...broken, part] };
      leaveOut(value, part);
      broken.push(part);
    }
    found = validate(value)
      ? []
      : (validate.errors ?? []).flatMap((each) => wrongPath(each, value));
  } while (found.length > 0);
  return { value, broken };
}

/** Returns the smallest part that contains a path; empty for the whole value. */
function partOf(path: ConfigPath, schema: Schema): ConfigPath {
  const end = path.findLastIndex((_, index) => schemaAt(schema, path.slice(0, index))?.hasParts);
  return path.slice(0, end + 1);
}

function leaveOut(value: ConfigValue, part: ConfigPath): void {
  const parent = configValueAt(value, part.slice(0, -1));
  const last = part.at(-1);
  if (typeof parent !== "object" || parent === null || last === undefined) return;
  if (Array.isArray(parent)) Reflect.set(parent, last, undefined);
  else Reflect.deleteProperty(parent, last);
}

/** Returns the path of the value with the mistake; empty for a removed item. */
function wrongPath(error: ErrorObject, value: ConfigValue): readonly ConfigPath[] {
  const path = pointerPath(error.instancePath, value);
  if (configValueAt(value, path) === undefined) return [];
  const { additionalProperty } = error.params;
  return [typeof additionalProperty === "string" ? [...path, additionalProperty] : path];
}
