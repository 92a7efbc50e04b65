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
  type FieldOwner,
  fieldAround,
  hasField,
  knownFields,
  misplacedFieldHints,
  otherOwner,
  suggestedField,
} from "./suggested-field.ts";
import type { LimitedKeys } from "./unknown-key-limit.ts";

/** Suggestions for an unknown key. */
export interface KeyAdvice {
  /** Complete hint that says how to write it instead. */
  readonly instead: string | undefined;
  /** Field with a similar name. */
  readonly suggestion: string | undefined;
  /** Nearby object that has this field; `undefined` if none has. */
  readonly owner: FieldOwner | undefined;
}

/** The unknown keys of one object. */
export interface UnknownKeys {
  readonly advice: ReadonlyMap<string, KeyAdvice>;
  readonly path: ConfigPath;
  /** Number of further unknown keys, which are not reported one by one. */
  readonly more: number;
  /** Names of the fields of the object, as one string. */
  readonly known: string;
  /** Keys that belong below an empty key before them, by that key: their lines are not indented enough. */
  readonly outdented: ReadonlyMap<string, readonly string[]>;
}

/** Collects the unknown keys of a value by the JSON pointer of their object, once, because a file may have many. */
export function unknownKeys(
  errors: readonly ErrorObject[],
  { value, more }: LimitedKeys,
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

/** Returns where unknown keys belong: the paths of the fields that are meant, by the path of the key. */
export function meantPlaces(
  unknown: ReadonlyMap<string, UnknownKeys>,
): readonly { readonly from: ConfigPath; readonly to: ConfigPath }[] {
  return [...unknown.values()].flatMap(({ advice, path }) =>
    [...advice].flatMap(([key, { suggestion, owner }]) => {
      const from = [...path, key];
      if (suggestion !== undefined) return [{ from, to: [...path, suggestion] }];
      return owner?.path === undefined ? [] : [{ from, to: [...owner.path, key] }];
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
  // A path into a configuration leads to one.
  const object = configValueAt(value, path) as ConfigValue;
  const known = knownFields(schema);
  const absent = known.filter((name) => isMapping(object) && !Object.hasOwn(object, name));
  const given = isMapping(object)
    ? Object.keys(object).filter((name) => hasField(schema, name))
    : [];
  const advice = keys.map((key): readonly [string, KeyAdvice] => {
    const isOfFile = path.length === 0 && key.startsWith("x-");
    const instead = isOfFile ? NAMED_VALUES : misplacedFieldHints(key, schema);
    const near = suggestedField(key, schema, absent);
    // The object is not valid without a required field, so that is meant rather than another object.
    const isNeeded = near !== undefined && schema?.required?.includes(near) === true;
    const isHere = isSlip(key, near) || (isNeeded && absent.includes(near));
    const elsewhere = isHere ? undefined : otherOwner(key, path, { root, value }, given);
    const only = keys.length === 1 ? onlyMissing(schema, absent) : undefined;
    const suggestion = elsewhere === undefined ? (near ?? only) : undefined;
    return [key, { instead, suggestion, owner: elsewhere }];
  });
  const outdented = isMapping(object) ? outdentedKeys(keys, object, path, root) : new Map();
  return { advice: new Map(advice), path, known: known.join(", "), outdented };
}

/** Hint for keys such as `x-common` that other tools ignore. */
const NAMED_VALUES =
  "name a value where it is first used (`policies: &common {...}`), and reuse it with `policies: *common`";

/** Returns the only required field that an object lacks: its only unknown key probably means it. */
function onlyMissing(schema: Schema | undefined, absent: readonly string[]): string | undefined {
  const missing = schema?.required?.filter((name) => absent.includes(name)) ?? [];
  return missing.length === 1 ? missing[0] : undefined;
}

/** Whether a key has the length of a similar field, give or take a letter: then it is a typo. */
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
