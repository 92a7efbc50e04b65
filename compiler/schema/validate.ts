import type { ErrorObject } from "ajv";
import {
  type ConfigPath,
  type Diagnostics,
  formatPath,
  type Origin,
} from "../diagnostics/diagnostic.ts";
import type { ConfigValue, ReadValue } from "./config-values.ts";
import { configValueAt, pointerPath, withEnvTemplates } from "./config-values.ts";
import { isConsequence, offencesOf } from "./consequences.ts";
import { reportMore, reportViolation } from "./report-violation.ts";
import { type Schema, schemaAt } from "./schema.ts";
import { compileSchema } from "./schema-compiler.ts";
import { type FewUnknownKeys, fewUnknownKeys } from "./unknown-key-limit.ts";
import { unknownKeys } from "./unknown-keys.ts";
import { soundParts } from "./valid-parts.ts";

/** Checks values against one schema. Made once per schema and input: compiling it is the expensive part. */
export interface Validator<Value> {
  /** Reports every mistake; gives the value unless there is one (of what is not built yet only its shape counts). */
  readonly whole: (read: ReadValue, origin: Origin, diagnostics: Diagnostics) => Value | undefined;
  /** Reports every mistake; gives the parts of the value that have none. */
  readonly parts: (read: ReadValue, origin: Origin, diagnostics: Diagnostics) => ValidParts<Value>;
  /** The parts of a value whose mistakes were reported. */
  readonly sound: (read: ReadValue) => ValidParts<Value>;
}

/** A value without the parts that have mistakes. */
export interface ValidParts<Value> {
  /** Undefined when a mistake belongs to no part. */
  readonly value: Value | undefined;
  /** Where the left-out parts stood. */
  readonly broken: readonly ConfigPath[];
}

/**
 * Compiles a schema for these values; the validator reports every mistake of one at its smallest node. `whole` is what
 * messages call the value itself.
 */
export function validator<Value>(
  schema: Schema<Value>,
  values: readonly ConfigValue[],
  whole?: string,
): Validator<Value> {
  const validate = compileSchema(schema, values);
  const reportAll = (
    read: FewRead,
    origin: Origin,
    diagnostics: Diagnostics,
  ): readonly ErrorObject[] => {
    const errors = validate(read.value) ? [] : asLists(validate.errors ?? [], read, schema);
    const subject = {
      root: schema,
      read,
      origin,
      whole: whole ?? originTitle(origin),
      checkPart,
      unknown: unknownKeys(errors, read, schema),
      variables: new Map(read.expanded.map((each) => [formatPath(each.path), each])),
    };
    const offences = offencesOf(errors);
    for (const error of errors) {
      // A key that is wrong has an error of its own: `propertyNames`.
      if (error.propertyName !== undefined) continue;
      if (!isConsequence(error, offences, subject)) reportViolation(error, subject, diagnostics);
    }
    for (const keys of subject.unknown.values()) reportMore(keys, subject, diagnostics);
    return errors;
  };
  // What a schema lets through is what its builders say.
  const typed = (read: ReadValue) => withEnvTemplates(read) as Value;
  const soundOf = (read: FewRead): ValidParts<Value> => {
    const unset = read.expanded.filter(({ isComplete }) => !isComplete);
    const unknown = unset.map(({ path }) => path);
    const { value, broken } = soundParts(read.value, schema, validate, unknown);
    return { value: value === undefined ? undefined : typed({ ...read, value }), broken };
  };
  const few = (read: ReadValue): FewRead => ({ ...read, ...fewUnknownKeys(read.value, schema) });
  return {
    sound: (read) => soundOf(few(read)),
    whole: (read, origin, diagnostics) => {
      const before = diagnostics.list.length;
      const errors = reportAll(few(read), origin, diagnostics);
      const found = diagnostics.list.slice(before);
      // An error that is not reported, because it follows from another one, still leaves a field missing.
      const hasShape =
        errors.every((error) => isUnbuilt(error, read.value, schema)) &&
        found.every(({ code }) => code === "not-built-yet");
      return hasShape ? typed(read) : undefined;
    },
    parts: (given, origin, diagnostics) => {
      const read = few(given);
      const isSound = reportAll(read, origin, diagnostics).length === 0;
      const isKnown = read.expanded.every(({ isComplete }) => isComplete);
      return isSound && isKnown ? { value: typed(read), broken: [] } : soundOf(read);
    },
  };
}

/** A value that was read, with few unknown keys. */
type FewRead = ReadValue & FewUnknownKeys;

function originTitle({ resource }: Origin): string {
  return resource?.name ?? "the file";
}

/** A mapping where a list or a mapping of other fields may stand was meant as an entry of the list: that is its one mistake. */
function asLists(
  errors: readonly ErrorObject[],
  { value }: ReadValue,
  root: Schema,
): readonly ErrorObject[] {
  return errors.flatMap((error) => {
    const path = pointerPath(error.instancePath, value);
    const { type = [], properties = {} } = schemaAt(root, path) ?? {};
    const found = configValueAt(value, path);
    const isEntry =
      [type].flat().includes("array") &&
      isMapping(found) &&
      !Object.keys(properties).some((name) => Object.hasOwn(found, name));
    if (!isEntry) return [error];
    return error.keyword === "additionalProperties"
      ? []
      : [error.keyword === "required" ? { ...error, keyword: "type" } : error];
  });
}

/** Whether an error is a field or a value that is known and not built yet: the rest of the value has its shape. */
function isUnbuilt(error: ErrorObject, value: ConfigValue, root: Schema): boolean {
  const path = pointerPath(error.instancePath, value);
  if (error.keyword === "additionalProperties") {
    const key = String(error.params.additionalProperty);
    return schemaAt(root, [...path, key])?.unsupported !== undefined;
  }
  const later = schemaAt(root, path)?.unsupportedValues ?? {};
  return error.keyword === "enum" && Object.hasOwn(later, String(configValueAt(value, path)));
}

function isMapping(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A part of a value, whose name is its key. */
function checkPart(shape: Schema, part: ReadValue, place: Origin, diagnostics: Diagnostics): void {
  validator(shape, [part.value], String(place.path.at(-1))).whole(part, place, diagnostics);
}
