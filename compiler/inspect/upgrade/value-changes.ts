import { isJsonObject } from "../../../runtime/json/json-object.ts";
import { nameList } from "../../diagnostics/name-list.ts";

/** A JSON schema that a version of gwc printed, or a part of one. */
export type AnySchema = Readonly<Record<string, unknown>>;

/** A difference between two versions of the schema of one value. */
export interface ValueChange {
  /** Field of the value that it is about; `undefined` if it is about the value itself. */
  readonly field?: string;
  readonly text: string;
  /** Whether configurations that were valid can be refused now, or have another meaning. */
  readonly needsAction: boolean;
  /** Whether this value of the earlier version is refused now or has another meaning. */
  readonly affects: (value: unknown) => boolean;
}

/** Follows a reference in the earlier or the present schema. */
export type Resolve = (schema: unknown, version: "before" | "now") => AnySchema | undefined;

/** Compares the two versions of one value, without the values inside it. */
export function changesOfValue(
  before: AnySchema,
  now: AnySchema,
  resolve: Resolve,
): readonly ValueChange[] {
  return [
    ...fieldChanges(before, now, resolve),
    ...wordChanges(before, now),
    ...typeChanges(before, now),
    ...boundChanges(before, now),
    ...patternChanges(before, now),
  ];
}

function fieldChanges(before: AnySchema, now: AnySchema, resolve: Resolve): readonly ValueChange[] {
  const [old, present] = [asFields(before.properties), asFields(now.properties)];
  const has = (field: string) => (value: unknown) => Object.hasOwn(asFields(value), field);
  const lacks = (field: string) => (value: unknown) => isJsonObject(value) && !has(field)(value);
  const removed = Object.keys(old)
    .filter((field) => !Object.hasOwn(present, field) && now.additionalProperties !== true)
    .map((field) => ({ field, text: "removed", needsAction: true, affects: has(field) }));
  const required = (field: string) =>
    asList(now.required).includes(field) && !asList(before.required).includes(field);
  // An object that the value could not be before has its own required fields.
  const couldBeObject = typesOf(before).length === 0 || typesOf(before).includes("object");
  const newlyRequired = Object.keys(couldBeObject ? present : {})
    .filter((field) => required(field))
    .map((field) => ({ field, text: "required now", needsAction: true, affects: lacks(field) }));
  const added = Object.keys(present)
    .filter((field) => !Object.hasOwn(old, field) && !required(field))
    .map((field) => ({ field, text: "new", needsAction: false, affects: () => false }));
  const defaults = Object.keys(old).flatMap((field) => {
    const was = resolve(old[field], "before")?.default;
    const is = resolve(present[field], "now")?.default;
    const isSame = JSON.stringify(was) === JSON.stringify(is);
    if (isSame || !Object.hasOwn(present, field)) return [];
    const text = `the default is ${shown(is)}, was ${shown(was)}`;
    return [{ field, text, needsAction: true, affects: lacks(field) }];
  });
  return [...removed, ...newlyRequired, ...defaults, ...added];
}

function shown(value: unknown): string {
  return value === undefined ? "unset" : JSON.stringify(value);
}

/** Changes of the words that a value may be. */
function wordChanges(before: AnySchema, now: AnySchema): readonly ValueChange[] {
  const [old, present] = [wordsOf(before), wordsOf(now)];
  if (old === undefined || present === undefined) return [];
  const removed = old.filter((word) => !present.includes(word));
  const added = present.filter((word) => !old.includes(word));
  const text = (words: readonly unknown[]) =>
    nameList(
      words.map((word) => JSON.stringify(word)),
      "and",
    );
  const changes: ValueChange[] = [];
  if (removed.length > 0)
    changes.push({
      text: `no longer accepts ${text(removed)}`,
      needsAction: true,
      affects: (value) => removed.includes(value),
    });
  if (added.length > 0)
    changes.push({
      text: `also accepts ${text(added)}`,
      needsAction: false,
      affects: () => false,
    });
  return changes;
}

/** A pattern of nothing but words, or a variable. */
const WORDS = /^\^\((?<words>[\w-]+(?:\|[\w-]+)+)\)\$(?:\|\\\$\\\{)?$/;

/** Returns the words that a value may be; schemas also allow a variable instead of a word. */
function wordsOf(schema: AnySchema): readonly unknown[] | undefined {
  const listed = WORDS.exec(String(schema.pattern))?.groups?.words;
  if (listed !== undefined) return listed.split("|");
  const alternatives = asList(schema.anyOf).filter(isJsonObject);
  const [words] = [schema, ...alternatives].flatMap((each) =>
    Array.isArray(each.enum) ? [asList(each.enum)] : [],
  );
  return words;
}

function typeChanges(before: AnySchema, now: AnySchema): readonly ValueChange[] {
  const [old, present] = [typesOf(before), typesOf(now)];
  if (old.length === 0 || present.length === 0) return [];
  const removed = old.filter((type) => !present.includes(type));
  const added = present.filter((type) => !old.includes(type));
  return [
    ...removed.map((type) => ({
      text: `can no longer be ${withArticle(type)}`,
      needsAction: true,
      affects: (value: unknown) => isOfType(value, type),
    })),
    ...added.map((type) => ({
      text: `can also be ${withArticle(type)}`,
      needsAction: false,
      affects: () => false,
    })),
  ];
}

function typesOf({ type }: AnySchema): readonly string[] {
  return (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
}

function withArticle(type: string): string {
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isJsonObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** Keywords that bound a value: which way is narrower, and how the bound reads. */
const BOUNDS = [
  { word: "minimum", isMinimum: true, name: "minimum", sizeOf: numberOf },
  { word: "maximum", isMinimum: false, name: "maximum", sizeOf: numberOf },
  { word: "minLength", isMinimum: true, name: "minimum length", sizeOf: lengthOf },
  { word: "maxLength", isMinimum: false, name: "maximum length", sizeOf: lengthOf },
  { word: "minItems", isMinimum: true, name: "minimum number of items", sizeOf: itemsOf },
  { word: "maxItems", isMinimum: false, name: "maximum number of items", sizeOf: itemsOf },
  { word: "minProperties", isMinimum: true, name: "minimum number of keys", sizeOf: keysOf },
  { word: "maxProperties", isMinimum: false, name: "maximum number of keys", sizeOf: keysOf },
] as const;

function boundChanges(before: AnySchema, now: AnySchema): readonly ValueChange[] {
  return BOUNDS.flatMap(({ word, isMinimum, name, sizeOf }) => {
    const unbounded = isMinimum ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const was = numberOf(before[word]) ?? unbounded;
    const is = numberOf(now[word]) ?? unbounded;
    if (was === is || isForEmptyOnly(word, before, is)) return [];
    const needsAction = isMinimum ? is > was : is < was;
    const limit = (value: number) => (Number.isFinite(value) ? String(value) : "unlimited");
    const affects = (value: unknown) => {
      const size = sizeOf(value);
      return needsAction && size !== undefined && (isMinimum ? size < is : size > is);
    };
    return [{ text: `${name} is ${limit(is)}, was ${limit(was)}`, needsAction, affects }];
  });
}

/** Whether a new minimum length refuses the empty string only, which the earlier pattern already refused. */
function isForEmptyOnly(word: string, { pattern }: AnySchema, is: number): boolean {
  if (word !== "minLength" || is !== 1 || typeof pattern !== "string") return false;
  return !new RegExp(pattern, "u").test("");
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === "string" ? value.length : undefined;
}

function itemsOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function keysOf(value: unknown): number | undefined {
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}

function patternChanges(before: AnySchema, now: AnySchema): readonly ValueChange[] {
  const { pattern } = now;
  if (typeof pattern !== "string" || pattern === before.pattern) return [];
  // Their words are compared.
  if (wordsOf(before) !== undefined && WORDS.test(pattern)) return [];
  const expression = new RegExp(pattern, "u");
  const affects = (value: unknown) => typeof value === "string" && !expression.test(value);
  return [{ text: `has another form: \`${pattern}\``, needsAction: true, affects }];
}

/** Returns a list; an empty one for other values. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns an object; an empty one for other values. */
export function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
