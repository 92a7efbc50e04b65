import type { ErrorObject } from "ajv";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  formatPath,
  keyPlace,
  type Origin,
  type Place,
} from "../diagnostics/diagnostic.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import type { ConfigValue, ReadValue } from "./config-values.ts";
import { configValueAt, keysIn, pointerPath, withEnvTemplates } from "./config-values.ts";
import { knownFields, meantField, otherOwner } from "./meant-field.ts";
import { type Schema, schemaAt } from "./schema.ts";
import { compileSchema } from "./schema-compiler.ts";
import { boundName, formatName, schemaTypeNames, typeName } from "./schema-messages.ts";
import { soundParts } from "./sound-parts.ts";
import { formAdvice, typeAdvice } from "./value-advice.ts";

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
 * Compiles a schema for values whose keys are all among `keys` (`keysIn`); the validator reports every mistake at its
 * smallest node. `whole` is what messages call the value itself.
 */
export function validator<Value>(
  schema: Schema<Value>,
  keys: ReadonlySet<string>,
  whole?: string,
): Validator<Value> {
  const validate = compileSchema(schema, keys);
  const reportAll = (read: ReadValue, origin: Origin, diagnostics: Diagnostics): void => {
    const errors = validate(read.value) ? [] : (validate.errors ?? []);
    const subject = { root: schema, read, origin, whole: whole ?? originTitle(origin) };
    for (const error of errors) {
      // A key that is wrong has an error of its own: `propertyNames`.
      if (error.propertyName !== undefined) continue;
      if (!isConsequence(error, errors, schema, read.value)) report(error, subject, diagnostics);
    }
  };
  // What a schema lets through is what its builders say.
  const typed = (read: ReadValue) => withEnvTemplates(read) as Value;
  const sound = (read: ReadValue): ValidParts<Value> => {
    const unset = read.expanded.filter(({ isComplete }) => !isComplete);
    const unknown = unset.map(({ path }) => path);
    const { value, broken } = soundParts(read.value, schema, validate, unknown);
    return { value: value === undefined ? undefined : typed({ ...read, value }), broken };
  };
  return {
    sound,
    whole: (read, origin, diagnostics) => {
      const before = diagnostics.list.length;
      reportAll(read, origin, diagnostics);
      const found = diagnostics.list.slice(before);
      return found.every(({ code }) => code === "not-built-yet") ? typed(read) : undefined;
    },
    parts: (read, origin, diagnostics) => {
      reportAll(read, origin, diagnostics);
      return sound(read);
    },
  };
}

/** What is validated. */
interface Subject {
  readonly root: Schema;
  readonly read: ReadValue;
  readonly origin: Origin;
  readonly whole: string;
}

function originTitle({ resource }: Origin): string {
  return resource?.name ?? "the file";
}

/** A field that is missing because it is misspelled, or known to another tool, is one mistake: the key is reported. */
function isConsequence(
  { keyword, instancePath, params }: ErrorObject,
  errors: readonly ErrorObject[],
  root: Schema,
  value: ConfigValue,
): boolean {
  if (keyword !== "required" && keyword !== "exactlyOneOf" && keyword !== "atLeastOneOf")
    return false;
  const unknown = errors.filter(
    (other) => other.keyword === "additionalProperties" && other.instancePath === instancePath,
  );
  const path = pointerPath(instancePath, value);
  const schema = schemaAt(root, path);
  const present = keysOf(configValueAt(value, path));
  if (keyword !== "required")
    return unknown.length > 0 && !(schema?.[keyword] ?? []).some((name) => present.includes(name));
  return unknown.some(
    (other) =>
      meantField(String(other.params.additionalProperty), schema, present) ===
      params.missingProperty,
  );
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** Reports one violation at its smallest node. */
function report(error: ErrorObject, subject: Subject, diagnostics: Diagnostics): void {
  const { root, origin, whole } = subject;
  const { value, expanded } = subject.read;
  const path = pointerPath(error.instancePath, value);
  const variable = expanded.find((each) => formatPath(each.path) === formatPath(path));
  // One mistake, one diagnostic: the variable that is not set has its own.
  if (variable?.isComplete === false) return;
  const reporter = REPORTERS[error.keyword] ?? reportBound;
  reporter({
    error,
    subject,
    diagnostics,
    path,
    at: childOf(origin, ...path),
    schema: schemaAt(root, path),
    found: configValueAt(value, path),
    field: path.length === 0 ? whole : `"${valueName(path)}"`,
    variable: variable?.source,
  });
}

/** One violation, with what every report of it needs. */
interface Violation {
  readonly error: ErrorObject;
  readonly subject: Subject;
  readonly diagnostics: Diagnostics;
  readonly path: ConfigPath;
  readonly at: Place;
  readonly schema: Schema | undefined;
  readonly found: unknown;
  /** What messages call the value. */
  readonly field: string;
  /** The variable it came from, as written: what it stood for is not shown. */
  readonly variable: string | undefined;
}

const REPORTERS: Readonly<Record<string, (violation: Violation) => void>> = {
  additionalProperties: reportUnknown,
  required: reportMissing,
  checks: reportBroken,
  exactlyOneOf: reportChoice,
  atLeastOneOf: reportChoice,
  atMostOneOf: reportChoice,
  type: reportType,
  enum: reportEnum,
  format: reportForm,
  pattern: reportForm,
  propertyNames: reportKey,
  minimumDuration: reportDuration,
};

function reportUnknown({ error, subject, diagnostics, path, schema }: Violation): void {
  const { root, read, origin, whole } = subject;
  const key = String(error.params.additionalProperty);
  const place = childOf(origin, ...path, key);
  const later = schemaAt(root, [...path, key]);
  if (later?.unsupported !== undefined) {
    reportLater(
      later,
      later.unsupported,
      configValueAt(read.value, [...path, key]),
      place,
      diagnostics,
    );
    return;
  }
  if (later?.misplaced !== undefined) {
    const params = { field: `"${key}"`, actsOn: later.misplaced, found: "connections" };
    diagnostics.report("misplaced-field", keyPlace(place), params);
    return;
  }
  const suggestion = meantField(key, schema, keysOf(configValueAt(read.value, path)));
  diagnostics.report("unknown-field", keyPlace(place), {
    owner: ownerName(path, whole),
    key,
    suggestion,
    standsIn: suggestion === undefined ? otherOwner(key, path, root) : undefined,
    known: knownFields(schema).join(", "),
  });
}

/** What is not built yet still has a shape, as far as the specification gives it one. */
function reportLater(
  { unsupported: _, ...shape }: Schema,
  what: string,
  value: unknown,
  place: Origin,
  diagnostics: Diagnostics,
): void {
  const key = String(place.path.at(-1));
  diagnostics.report("not-built-yet", keyPlace(place), { what, field: `"${key}"` });
  // The value is a part of the one that is validated.
  const part: ReadValue = { value: value as ConfigValue, envTemplates: [], expanded: [] };
  if (shape.type !== undefined)
    validator(shape, keysIn([part.value]), key).whole(part, place, diagnostics);
}

function reportMissing({ error, subject, diagnostics, path, at }: Violation): void {
  const key = String(error.params.missingProperty);
  const owner = ownerName(path, subject.whole);
  diagnostics.report("missing-field", pointAtOwner(at), { owner, key });
}

function reportBroken({ subject, diagnostics, path, at, schema, found }: Violation): void {
  // The keyword applies to objects only.
  const object = found as Readonly<Record<string, unknown>>;
  for (const { holds, message, field, needs } of schema?.checks ?? []) {
    if (holds(object) || isToldMissing(needs, schema, object)) continue;
    const isThere = field !== undefined && Object.hasOwn(object, field);
    const place = isThere ? childOf(subject.origin, ...path, field) : pointAtOwner(at);
    diagnostics.report("broken-rule", place, { message });
  }
}

/** Whether the lack of a field is reported by itself: as one that is required, or as one of a choice of which none is there. */
function isToldMissing(
  field: string | undefined,
  schema: Schema | undefined,
  object: Readonly<Record<string, unknown>>,
): boolean {
  if (field === undefined) return false;
  const choices = [schema?.exactlyOneOf ?? [], schema?.atLeastOneOf ?? []];
  return (
    schema?.required?.includes(field) === true ||
    choices.some(
      (names) => names.includes(field) && names.every((name) => object[name] === undefined),
    )
  );
}

function reportChoice({ error, subject, diagnostics, path, at, schema }: Violation): void {
  // The table of reporters has only these three here.
  const rule = error.keyword as "exactlyOneOf" | "atLeastOneOf" | "atMostOneOf";
  const all: readonly string[] = schema?.[rule] ?? [];
  const found = all.filter(
    (name) => configValueAt(subject.read.value, [...path, name]) !== undefined,
  );
  const own = all.filter((name) => schema?.properties?.[name]?.aliasOf === undefined);
  const built = own.filter((name) => schema?.properties?.[name]?.unsupported === undefined);
  const second = found[1];
  const place =
    second === undefined ? pointAtOwner(at) : keyPlace(childOf(subject.origin, ...path, second));
  diagnostics.report("wrong-choice", place, {
    owner: ownerName(path, subject.whole),
    rule,
    names: built.length === 0 ? own : built,
    found,
  });
}

function reportType({ diagnostics, at, schema, found, field }: Violation): void {
  diagnostics.report("wrong-type", at, {
    field,
    expected: schemaTypeNames(schema),
    found: typeName(found),
    advice: schema && typeAdvice(schema, found),
  });
}

function reportEnum({ diagnostics, at, schema, found, field, variable }: Violation): void {
  const types = [schema?.type ?? []].flat();
  const isOther = found === null ? !types.includes("null") : typeof found === "object";
  // That it is of another type has been told.
  if (types.length > 0 && isOther) return;
  const word = typeof found === "object" ? typeName(found) : String(found);
  const allowed = (schema?.enum ?? []).map(String);
  const laterValues = schema?.unsupportedValues ?? {};
  const later = Object.hasOwn(laterValues, word) ? laterValues[word] : undefined;
  if (later !== undefined) {
    diagnostics.report("not-built-yet", at, { what: later, field: `"${word}"` });
    return;
  }
  diagnostics.report("unknown-value", at, {
    field,
    found: variable === undefined ? `"${word}"` : `what "${variable}" stands for`,
    allowed: allowed.join(", "),
    suggestion: variable === undefined ? suggest(word, allowed) : undefined,
  });
}

function reportForm({ diagnostics, at, schema, found, field, variable }: Violation): void {
  const isWritten = variable === undefined && typeof found === "string";
  const advice = schema && isWritten ? formAdvice(schema, found) : undefined;
  diagnostics.report("bad-format", at, { field, expected: formatName(schema), advice });
}

function reportKey({ error, subject, diagnostics, path, schema }: Violation): void {
  const key = String(error.params.propertyName);
  const at = keyPlace(childOf(subject.origin, ...path, key));
  const expected = formatName(schema?.propertyNames);
  const advice = schema?.propertyNames && formAdvice(schema.propertyNames, key);
  diagnostics.report("bad-format", at, { field: `"${key}"`, expected, advice });
}

function reportDuration({ diagnostics, at, schema, field }: Violation): void {
  const bound = `is at least ${schema?.minimumDuration}`;
  diagnostics.report("out-of-range", at, { field, bound });
}

function reportBound({ error, diagnostics, at, field }: Violation): void {
  diagnostics.report("out-of-range", at, { field, bound: boundName(error) });
}

/** A missing field has no place of its own: the key of what should hold it, or the start of the file. */
function pointAtOwner(at: ReturnType<typeof childOf>): ReturnType<typeof childOf> {
  if (at.path.length === 0 && at.resource === undefined) return { ...at, part: "file" };
  if (at.path.length === at.resource?.depth) return childOf(at, "kind");
  return typeof at.path.at(-1) === "string" ? keyPlace(at) : at;
}

function ownerName(path: ConfigPath, whole: string): string {
  return path.length === 0 ? whole : valueName(path);
}

/** What messages call a value: its key, or its list's with the index. */
function valueName(path: ConfigPath): string {
  const last = path.at(-1);
  if (typeof last === "string") return last;
  const parent = path.at(-2);
  return `${typeof parent === "string" ? parent : "item"}[${last}]`;
}
