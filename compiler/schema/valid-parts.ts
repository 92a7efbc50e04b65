import type { ErrorObject, ValidateFunction } from "ajv";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { ConfigValue } from "./config-values.ts";
import { configValueAt, pointerPath } from "./config-values.ts";
import { type Schema, schemaAt } from "./schema.ts";

/** What of a value is good. */
export interface SoundParts {
  /** The value without the parts that have mistakes; undefined when a mistake belongs to no part. */
  readonly value: ConfigValue | undefined;
  /** Where the left-out parts stood. */
  readonly broken: readonly ConfigPath[];
}

/**
 * Takes the parts with mistakes out of a value (in place): fields are gone, items of a list are undefined, so that the
 * others keep their index. `unknown` are places whose value is not known, whatever stands there.
 */
export function soundParts(
  value: ConfigValue,
  schema: Schema,
  validate: ValidateFunction,
  unknown: readonly ConfigPath[],
): SoundParts {
  const broken: ConfigPath[] = [];
  let found = unknown;
  // What has lost a part may need it: it is another part's turn then.
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

/** The smallest part that a path belongs to; empty when it is the whole value. */
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

/** What a mistake is about; nothing for an item that was left out. */
function wrongPath(error: ErrorObject, value: ConfigValue): readonly ConfigPath[] {
  const path = pointerPath(error.instancePath, value);
  if (configValueAt(value, path) === undefined) return [];
  const { additionalProperty } = error.params;
  return [typeof additionalProperty === "string" ? [...path, additionalProperty] : path];
}
