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
import type { ConfigValue, ExpandedText, ReadValue } from "./config-values.ts";
import { configValueAt, pointerPath } from "./config-values.ts";
import { meantParts, meantSchema, partOf } from "./inner-mistakes.ts";
import { type Schema, schemaAt } from "./schema.ts";
import { boundName, formatName, schemaTypeNames, typeName } from "./schema-messages.ts";
import { misplacedFieldHints, suggestedWord } from "./suggested-field.ts";
import type { UnknownKeys } from "./unknown-keys.ts";
import { additionAdvice, formAdvice, typeAdvice } from "./value-advice.ts";

/** A validated value, and the facts about all its mistakes. */
export interface Subject {
  readonly root: Schema;
  readonly read: ReadValue;
  readonly origin: Origin;
  readonly whole: string;
  /** Checks the value of an unsupported field against the schema of that field. */
  readonly checkPart: (
    shape: Schema,
    part: ReadValue,
    place: Origin,
    diagnostics: Diagnostics,
  ) => void;
  /** Unknown keys by the JSON pointer of their object. */
  readonly unknown: ReadonlyMap<string, UnknownKeys>;
  /** Paths of the fields that unknown keys mean. */
  readonly meant: ReadonlySet<string>;
  /** JSON pointers of the values that have mistakes themselves. */
  readonly mistaken: ReadonlySet<string>;
  /** Values from the environment, by path. */
  readonly variables: ReadonlyMap<string, ExpandedText>;
}

/** Reports one violation at its smallest node. */
export function reportViolation(
  error: ErrorObject,
  subject: Subject,
  diagnostics: Diagnostics,
): void {
  const { root, origin, whole } = subject;
  const { value } = subject.read;
  const path = pointerPath(error.instancePath, value);
  const variable = subject.variables.get(formatPath(path));
  // The unset variable has been reported already.
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
    field: path.length === 0 ? whole : `"${valueName(path, whole)}"`,
    variable: variable?.source,
  });
}

/** A violation and everything that its report needs. */
interface Violation {
  readonly error: ErrorObject;
  readonly subject: Subject;
  readonly diagnostics: Diagnostics;
  readonly path: ConfigPath;
  readonly at: Place;
  readonly schema: Schema | undefined;
  readonly found: unknown;
  /** Name of the value in messages. */
  readonly field: string;
  /** Variable that the value comes from, as written. The value itself is not shown. */
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

function reportUnknown({ error, subject, diagnostics, path }: Violation): void {
  const { root, read, origin, whole } = subject;
  const key = String(error.params.additionalProperty);
  const place = childOf(origin, ...path, key);
  const later = schemaAt(root, [...path, key]);
  if (later?.unsupported !== undefined) {
    reportLater(later, later.unsupported, configValueAt(read.value, [...path, key]), place, {
      subject,
      diagnostics,
    });
    return;
  }
  if (later?.misplaced !== undefined) {
    const params = { field: `"${key}"`, actsOn: later.misplaced, found: "connections" };
    diagnostics.report("misplaced-field", keyPlace(place), params);
    return;
  }
  const unknown = subject.unknown.get(error.instancePath);
  const { instead, suggestion, owner } = unknown?.advice.get(key) ?? {};
  diagnostics.report("unknown-field", keyPlace(place), {
    owner: ownerName(path, whole),
    key,
    instead,
    suggestion,
    standsIn: owner?.name,
    known: unknown?.known ?? "",
  });
  const known =
    suggestion === undefined
      ? owner?.schema?.properties?.[key]
      : schemaAt(root, [...path, suggestion]);
  const meant = meantSchema(known, schemaAt(root, path), partOf(read, [...path, key]).value);
  if (meant !== undefined) reportInside(meant, [...path, key], subject, diagnostics);
}

/** Reports mistakes inside a value in the wrong place, or of the wrong kind, as far as its meaning is known. */
function reportInside(
  meant: Schema,
  path: ConfigPath,
  { read, origin, checkPart }: Subject,
  diagnostics: Diagnostics,
): void {
  for (const { schema, read: part, place } of meantParts(
    meant,
    path,
    read,
    childOf(origin, ...path),
  ))
    checkPart(schema, part, place, diagnostics);
}

/** Reports the number of unknown keys of an object that exceed the limit. */
export function reportMore(
  { path, more }: UnknownKeys,
  { origin, whole }: Subject,
  diagnostics: Diagnostics,
): void {
  if (more === 0) return;
  const at = pointAtOwner(childOf(origin, ...path));
  diagnostics.report("unknown-fields", at, { owner: ownerName(path, whole), count: more });
}

/** Reports an unsupported field, and mistakes in its value if the specification defines its shape. */
function reportLater(
  { unsupported: _, instead, ...shape }: Schema,
  what: string,
  value: unknown,
  place: Origin,
  { subject, diagnostics }: Pick<Violation, "subject" | "diagnostics">,
): void {
  const key = String(place.path.at(-1));
  diagnostics.report("not-built-yet", keyPlace(place), { what, field: `"${key}"`, instead });
  // The value is part of the validated one.
  const part: ReadValue = { value: value as ConfigValue, envTemplates: [], expanded: [] };
  if (shape.type !== undefined) subject.checkPart(shape, part, place, diagnostics);
}

function reportMissing({ error, subject, diagnostics, path, at, schema }: Violation): void {
  const key = String(error.params.missingProperty);
  const owner = ownerName(path, subject.whole);
  const advice = additionAdvice(key, schema?.properties?.[key]);
  diagnostics.report("missing-field", pointAtOwner(at), { owner, key, advice });
}

function reportBroken({ error, subject, diagnostics, path, at, schema, found }: Violation): void {
  // The keyword applies to objects only.
  const object = found as Readonly<Record<string, unknown>>;
  const isMistaken = (key: string) =>
    subject.mistaken.has(`${error.instancePath}/${key}`) ||
    isMeantIn([...path, key], subject) ||
    (schema?.required?.includes(key) === true && !Object.hasOwn(object, key));
  for (const { holds, message, field, needs, cel } of schema?.checks ?? []) {
    if (holds(object) || isReportedMissing(needs, schema, object)) continue;
    // The rule may hold once the mistake in one of its fields is corrected.
    if (fieldsOfSelf(cel).some(isMistaken)) continue;
    const isThere = field !== undefined && Object.hasOwn(object, field);
    const place = isThere ? childOf(subject.origin, ...path, field) : pointAtOwner(at);
    const advice = needs && additionAdvice(needs, schema?.properties?.[needs]);
    diagnostics.report("broken-rule", place, { message, advice });
  }
}

/** Whether an unknown key means a field at a path, or below it. */
export function isMeantIn(path: ConfigPath, { meant }: Pick<Subject, "meant">): boolean {
  const place = formatPath(path);
  return (
    meant.has(place) ||
    [...meant].some((each) => /^[.[]/.test(each.slice(place.length)) && each.startsWith(place))
  );
}

/** Returns the fields of `self` that a CEL expression reads. */
function fieldsOfSelf(cel: string): readonly string[] {
  return [...cel.matchAll(/\bself\.(\w+)/g)].flatMap(([, name]) => name ?? []);
}

/** Whether the missing field is reported anyway: as a required field, or as one of a choice without any member. */
function isReportedMissing(
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
  // The table of reporters calls this function only for these three.
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

function reportType(violation: Violation): void {
  const { diagnostics, at, path, schema: whole, found, field } = violation;
  const isFile = path.length === 0 && typeof found !== "object";
  const isFileOfItems = path.length === 0 && Array.isArray(found);
  const types = [whole?.type ?? []].flat();
  // A mapping with none of the allowed fields.
  const isOther = types.includes("object") && typeName(found) === "a mapping";
  const schema = isOther ? { ...whole, type: types.filter((each) => each !== "object") } : whole;
  diagnostics.report("wrong-type", at, {
    field,
    expected: schemaTypeNames(schema),
    found: typeName(found),
    advice: isFile
      ? "`gwc init` writes a small file that works"
      : isFileOfItems
        ? "write its keys at the beginning of lines, without `- `"
        : (indentAdvice(violation) ?? (schema && typeAdvice(schema, found))),
  });
  if (schema !== undefined && !isFile) reportInside(schema, path, violation.subject, diagnostics);
}

/** Returns the hint for lines that are next to an empty key but belong below it. */
function indentAdvice({ subject, path, schema, error }: Violation): string | undefined {
  const owner = error.instancePath.slice(0, error.instancePath.lastIndexOf("/"));
  const keys = subject.unknown.get(owner)?.outdented.get(String(path.at(-1)));
  if (keys === undefined) return undefined;
  const names = keys.map((key) => `"${key}"`).join(", ");
  if ([schema?.type].flat().includes("array"))
    return `${names} belong${keys.length === 1 ? "s" : ""} below it, in an item that starts with \`- \``;
  return keys.length === 1
    ? `${names} is a field of it: indent that line further`
    : `${names} are fields of it: indent their lines further`;
}

function reportEnum({ diagnostics, at, schema, found, field, variable }: Violation): void {
  const types = [schema?.type ?? []].flat();
  const isOther = found === null ? !types.includes("null") : typeof found === "object";
  // The wrong type has been reported.
  if (types.length > 0 && isOther) return;
  const word = typeof found === "object" ? typeName(found) : String(found);
  const allowed = (schema?.enum ?? []).map(String);
  const laterValues = schema?.unsupportedValues ?? {};
  const later = Object.hasOwn(laterValues, word) ? laterValues[word] : undefined;
  if (later !== undefined) {
    const instead = schema?.misplacedFieldHints?.[word];
    diagnostics.report("not-built-yet", at, { what: later, field: `"${word}"`, instead });
    return;
  }
  diagnostics.report("unknown-value", at, {
    field,
    found: variable === undefined ? `"${word}"` : `what "${variable}" stands for`,
    allowed: allowed.join(", "),
    instead: variable === undefined ? misplacedFieldHints(word, schema) : undefined,
    suggestion: variable === undefined ? suggestedWord(word, allowed) : undefined,
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
  const bound = `must be at least ${schema?.minimumDuration}`;
  diagnostics.report("out-of-range", at, { field, bound });
}

function reportBound({ error, diagnostics, at, field, schema, found }: Violation): void {
  const advice = shareAdvice(schema, found);
  diagnostics.report("out-of-range", at, { field, bound: boundName(error), advice });
}

/** Returns a hint for a share from 0 to 1 that is written in percent. */
function shareAdvice(schema: Schema | undefined, found: unknown): string | undefined {
  const isShare = schema?.type === "number" && schema.minimum === 0 && schema.maximum === 1;
  if (!isShare || typeof found !== "number" || found <= 1 || found > 100) return undefined;
  return `it is a share from 0 to 1: ${found} % is ${Number((found / 100).toFixed(6))}`;
}

/** Returns the place of a missing field: the key of its object, or the start of the file. */
function pointAtOwner(at: ReturnType<typeof childOf>): ReturnType<typeof childOf> {
  if (at.path.length === 0 && at.resource === undefined) return { ...at, part: "file" };
  if (at.path.length === at.resource?.depth) return childOf(at, "kind");
  return typeof at.path.at(-1) === "string" ? keyPlace(at) : at;
}

function ownerName(path: ConfigPath, whole: string): string {
  return path.length === 0 ? whole : valueName(path, whole);
}

/** Names a value in messages: by its key, or by its list, which is `whole` unless the path has a key, and index. */
export function valueName(path: ConfigPath, whole: string): string {
  const last = path.at(-1);
  if (typeof last === "string") return last;
  const parent = path.length === 1 ? whole : path.at(-2);
  return `${typeof parent === "string" ? parent : "item"}[${last}]`;
}
