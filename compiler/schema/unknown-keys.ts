import type { ErrorObject } from "ajv";
import { type ConfigPath, formatPath } from "../diagnostics/diagnostic.ts";
import { type ConfigValue, configValueAt, pointerPath } from "./config-values.ts";
import type { FewUnknownKeys } from "./few-unknown-keys.ts";
import { knownFields, meantField, otherOwner, saidElsewhere } from "./meant-field.ts";
import { type Schema, schemaAt } from "./schema.ts";

/** What is known of an unknown key. */
export interface KeyAdvice {
  /** What says the same in another way, as a hint. */
  readonly instead: string | undefined;
  /** The field that was meant. */
  readonly suggestion: string | undefined;
  /** Where the key stands, when it is known in another place nearby. */
  readonly standsIn: string | undefined;
}

/** The unknown keys of one object, and what they stand for. */
export interface UnknownKeys {
  readonly advice: ReadonlyMap<string, KeyAdvice>;
  readonly path: ConfigPath;
  /** How many there are that are only counted. */
  readonly more: number;
  /** The fields of the object, in one text. */
  readonly known: string;
}

/** The unknown keys of a value by the JSON pointer of their object: looked up once, for a file may have many. */
export function unknownKeys(
  errors: readonly ErrorObject[],
  { value, more }: FewUnknownKeys,
  root: Schema,
): ReadonlyMap<string, UnknownKeys> {
  const unknown = errors.filter(({ keyword }) => keyword === "additionalProperties");
  const owners = Map.groupBy(unknown, ({ instancePath }) => instancePath);
  return new Map(
    [...owners].map(([pointer, found]) => {
      const keys = found.map(({ params }) => String(params.additionalProperty));
      const path = pointerPath(pointer, value);
      const counted = { more: more.get(formatPath(path)) ?? 0 };
      return [pointer, { ...lookUp(keys, path, value, root), ...counted }];
    }),
  );
}

function lookUp(
  keys: readonly string[],
  path: ConfigPath,
  value: ConfigValue,
  root: Schema,
): Omit<UnknownKeys, "more"> {
  const schema = schemaAt(root, path);
  const object = configValueAt(value, path);
  const known = knownFields(schema);
  const absent = known.filter(
    (name) => typeof object === "object" && object !== null && !Object.hasOwn(object, name),
  );
  const advice = keys.map((key): readonly [string, KeyAdvice] => {
    const instead = saidElsewhere(key, schema);
    const suggestion = meantField(key, schema, { absent, isAlone: keys.length === 1 });
    const standsIn = suggestion === undefined ? otherOwner(key, path, root) : undefined;
    return [key, { instead, suggestion, standsIn }];
  });
  return { advice: new Map(advice), path, known: known.join(", ") };
}
