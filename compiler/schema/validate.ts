import type { ErrorObject } from "ajv";
import { isJsonObject } from "../../runtime/json/json-object.ts";
import { type Diagnostics, formatPath, type Origin } from "../diagnostics/diagnostic.ts";
import {
  type ConfigValue,
  configValueAt,
  pointerPath,
  type ReadValue,
  withEnvTemplates,
} from "./config-values.ts";
import { repairedValue } from "./repaired-value.ts";
import {
  isMeantIn,
  reportMore,
  reportViolation,
  type Subject,
  valueName,
} from "./report-violation.ts";
import { type Schema, schemaAt } from "./schema.ts";
import { compileFields, usedFields } from "./schema-compiler.ts";
import { type LimitedKeys, limitUnknownKeys } from "./unknown-key-limit.ts";
import { meantPlaces, unknownKeys } from "./unknown-keys.ts";
import { type ValidParts, validParts } from "./valid-parts.ts";

/** Validator of one schema. Created once per schema and input, because compiling the schema is expensive. */
export interface Validator<Value> {
  /** Reports every mistake and returns the value, or `undefined` if it has mistakes other than unsupported features. */
  readonly whole: (read: ReadValue, origin: Origin, diagnostics: Diagnostics) => Value | undefined;
  /** Reports every mistake and returns the valid parts of the value. */
  readonly parts: (read: ReadValue, origin: Origin, diagnostics: Diagnostics) => ValidParts<Value>;
  /**
   * Reports every mistake and returns the value with placeholders in place of invalid parts, so that later phases find
   * the mistakes in the rest. A gateway is never built from such a value.
   */
  readonly repaired: (
    read: ReadValue,
    origin: Origin,
    diagnostics: Diagnostics,
  ) => ValidParts<Value>;
  /** Returns the valid parts of a value whose mistakes have been reported. */
  readonly valid: (read: ReadValue) => ValidParts<Value>;
}

/**
 * Compiles a schema for these values. The validator reports every mistake at its smallest node; `whole` is the name of
 * the value itself in messages.
 */
export function validator<Value>(
  schema: Schema<Value>,
  values: readonly ConfigValue[],
  whole?: string,
): Validator<Value> {
  return validatorOf(schema, usedFields(schema, values), whole);
}

/** A validator that is compiled again only if values have fields that no earlier ones had. */
export class ReusableValidator<Value> {
  readonly schema: Schema<Value>;
  #used: ReadonlySet<string> = new Set();
  #validator: Validator<Value> | undefined;

  constructor(schema: Schema<Value>) {
    this.schema = schema;
  }

  /** Returns a validator for these values. */
  for(values: readonly ConfigValue[]): Validator<Value> {
    const used = usedFields(this.schema, values);
    if (this.#validator !== undefined && [...used].every((field) => this.#used.has(field)))
      return this.#validator;
    this.#used = new Set([...this.#used, ...used]);
    this.#validator = validatorOf(this.schema, this.#used);
    return this.#validator;
  }
}

function validatorOf<Value>(
  schema: Schema<Value>,
  used: ReadonlySet<string>,
  whole?: string,
): Validator<Value> {
  const validate = compileFields(schema, used);
  const reportAll = (
    read: LimitedRead,
    origin: Origin,
    diagnostics: Diagnostics,
  ): readonly ErrorObject[] => {
    const errors = validate(read.value) ? [] : asLists(validate.errors ?? [], read, schema);
    const unknown = unknownKeys(errors, read, schema);
    const subject = {
      root: schema,
      read,
      origin,
      whole: whole ?? originTitle(origin),
      checkPart,
      unknown,
      meant: new Set(meantPlaces(unknown).map(({ to }) => formatPath(to))),
      mistaken: new Set(errors.map(({ instancePath }) => instancePath)),
      variables: new Map(read.expanded.map((each) => [formatPath(each.path), each])),
    };
    const offences = offencesOf(errors);
    for (const error of errors) {
      // `propertyNames` has its own error for an invalid key.
      if (error.propertyName !== undefined) continue;
      if (!isConsequence(error, offences, subject)) reportViolation(error, subject, diagnostics);
    }
    for (const keys of subject.unknown.values()) reportMore(keys, subject, diagnostics);
    return errors;
  };
  // The builders of the schema define the type of a valid value.
  const typed = (read: ReadValue) => withEnvTemplates(read) as Value;
  const validOf = (read: LimitedRead, repair = validParts): ValidParts<Value> => {
    const unset = read.expanded.filter(({ isComplete }) => !isComplete);
    const unknown = unset.map(({ path }) => path);
    const { value, broken } = repair(read.value, schema, validate, unknown);
    return { value: value === undefined ? undefined : typed({ ...read, value }), broken };
  };
  const limited = (read: ReadValue): LimitedRead => ({
    ...read,
    ...limitUnknownKeys(read.value, schema),
  });
  const reportedParts =
    (repair: typeof validParts): Validator<Value>["parts"] =>
    (given, origin, diagnostics) => {
      const read = limited(given);
      const isValid = reportAll(read, origin, diagnostics).length === 0;
      const isKnown = read.expanded.every(({ isComplete }) => isComplete);
      return isValid && isKnown ? { value: typed(read), broken: [] } : validOf(read, repair);
    };
  return {
    valid: (read) => validOf(limited(read)),
    whole: (read, origin, diagnostics) => {
      const before = diagnostics.list.length;
      const errors = reportAll(limited(read), origin, diagnostics);
      const found = diagnostics.list.slice(before);
      // An error that is not reported because it is a consequence can still leave a field missing.
      const hasShape =
        errors.every((error) => isUnbuilt(error, read.value, schema)) &&
        found.every(({ code }) => code === "not-built-yet");
      return hasShape ? typed(read) : undefined;
    },
    parts: reportedParts(validParts),
    repaired: reportedParts(repairedValue),
  };
}

/** A value with a limited number of unknown keys. */
type LimitedRead = ReadValue & LimitedKeys;

function originTitle({ resource }: Origin): string {
  return resource?.name ?? "the file";
}

/**
 * Treats a mapping in place of a list, or of a mapping with other fields, as a missing list item: that is its only
 * mistake.
 */
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
      isJsonObject(found) &&
      !Object.keys(properties).some((name) => Object.hasOwn(found, name));
    if (!isEntry) return [error];
    return error.keyword === "additionalProperties"
      ? []
      : [error.keyword === "required" ? { ...error, keyword: "type" } : error];
  });
}

/** Whether an error is an unsupported field or value: the rest of the value is valid then. */
function isUnbuilt(error: ErrorObject, value: ConfigValue, root: Schema): boolean {
  const path = pointerPath(error.instancePath, value);
  if (error.keyword === "additionalProperties") {
    const key = String(error.params.additionalProperty);
    return schemaAt(root, [...path, key])?.unsupported !== undefined;
  }
  const later = schemaAt(root, path)?.unsupportedValues ?? {};
  return error.keyword === "enum" && Object.hasOwn(later, String(configValueAt(value, path)));
}

/** Checks a part of a value; its key, or its list and index, is its name in messages. */
function checkPart(shape: Schema, part: ReadValue, place: Origin, diagnostics: Diagnostics): void {
  validator(shape, [part.value], valueName(place.path, "item")).whole(part, place, diagnostics);
}

/** Violated keywords with the JSON pointers of their values. */
type Offences = ReadonlySet<string>;

/** Collects the violations of all errors once, because a file may have many errors. */
function offencesOf(errors: readonly ErrorObject[]): Offences {
  return new Set(errors.map(({ keyword, instancePath }) => `${keyword} ${instancePath}`));
}

/** Whether an error is only a consequence of another one, which is reported instead. */
function isConsequence(error: ErrorObject, offences: Offences, subject: Subject): boolean {
  const { keyword, instancePath } = error;
  switch (keyword) {
    case "required":
    case "exactlyOneOf":
    case "atLeastOneOf":
      return isMissingByName(error, subject);
    case "minProperties":
      return isMeantIn(pointerPath(instancePath, subject.read.value), subject);
    case "additionalProperties":
      return isOutdented(error, subject);
    case "enum":
      return offences.has(`type ${instancePath}`);
    case "minLength":
    case "maxLength":
      return offences.has(`format ${instancePath}`) || offences.has(`pattern ${instancePath}`);
    default:
      return false;
  }
}

/**
 * Whether a required field is missing because it is misspelled, or written in another object, or known to another tool.
 * The key itself is reported then.
 */
function isMissingByName(
  { keyword, instancePath, params }: ErrorObject,
  subject: Subject,
): boolean {
  const { unknown, root, read } = subject;
  const path = pointerPath(instancePath, read.value);
  const missing: readonly string[] =
    keyword === "required"
      ? [String(params.missingProperty)]
      : (schemaAt(root, path)?.[keyword as "exactlyOneOf" | "atLeastOneOf"] ?? []);
  if (missing.some((name) => subject.meant.has(formatPath([...path, name])))) return true;
  if (keyword === "required" || !unknown.has(instancePath)) return false;
  return missing.every((name) => configValueAt(read.value, [...path, name]) === undefined);
}

/** Whether a key belongs below the empty key before it: all of these are reported together at the empty key. */
function isOutdented({ instancePath, params }: ErrorObject, { unknown }: Subject): boolean {
  const key = String(params.additionalProperty);
  const outdented = [...(unknown.get(instancePath)?.outdented.values() ?? [])];
  return outdented.some((keys) => keys.includes(key));
}
