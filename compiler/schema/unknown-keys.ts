import type { ErrorObject } from "ajv";
import { type ConfigPath, formatPath } from "../diagnostics/diagnostic.ts";
import {
  type ConfigMapping,
  type ConfigValue,
  configValueAt,
  isMapping,
  pointerPath,
} from "./config-values.ts";
import { type Schema, schemaAt } from "./schema.ts";
import {
  fieldAround,
  hasField,
  knownFields,
  meantField,
  misplacedFieldHints,
  otherOwner,
} from "./suggested-field.ts";
import type { FewUnknownKeys } from "./unknown-key-limit.ts";

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
  /** Keys that are fields of an empty key beside them, by that key: their lines are not indented enough. */
  readonly outdented: ReadonlyMap<string, readonly string[]>;
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
  // A part of a configuration is one.
  const object = configValueAt(value, path) as ConfigValue;
  const known = knownFields(schema);
  const absent = known.filter((name) => isMapping(object) && !Object.hasOwn(object, name));
  const given = isMapping(object) ? known.filter((name) => Object.hasOwn(object, name)) : [];
  const advice = keys.map((key): readonly [string, KeyAdvice] => {
    const isOfFile = path.length === 0 && key.startsWith("x-");
    const instead = isOfFile ? NAMED_VALUES : misplacedFieldHints(key, schema);
    const meant = meantField(key, schema, { absent, isAlone: keys.length === 1 });
    const elsewhere = isSlip(key, meant) ? undefined : otherOwner(key, path, root, given);
    const suggestion = elsewhere === undefined ? meant : undefined;
    return [key, { instead, suggestion, standsIn: elsewhere }];
  });
  const outdented = isMapping(object) ? outdentedKeys(keys, object, path, root) : new Map();
  return { advice: new Map(advice), path, known: known.join(", "), outdented };
}

/** What is said of keys of a file that other tools leave alone. */
const NAMED_VALUES =
  "a value has its name where it is used first (`policies: &common {...}`), and is `policies: *common` at others";

/** Whether a key is as long as the field that it is like, but for a letter: then nothing else was meant. */
function isSlip(key: string, meant: string | undefined): boolean {
  return meant !== undefined && Math.abs(key.length - meant.length) < 2;
}

function outdentedKeys(
  keys: readonly string[],
  object: ConfigMapping,
  path: ConfigPath,
  root: Schema,
): ReadonlyMap<string, readonly string[]> {
  const empty = Object.keys(object).filter((key) => object[key] === null);
  const found = empty.map((key): readonly [string, readonly string[]] => {
    const fields = fieldAround(key, path, root);
    return [key, keys.filter((each) => each !== key && hasField(fields?.items ?? fields, each))];
  });
  return new Map(found.filter(([, fields]) => fields.length > 0));
}
