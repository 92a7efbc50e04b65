import type { ErrorObject, ValidateFunction } from "ajv";
import { type ConfigPath, formatPath } from "../diagnostics/diagnostic.ts";
import type { ConfigValue } from "./config-values.ts";
import { configValueAt, pointerPath } from "./config-values.ts";
import { fitsForm } from "./formats.ts";
import { type FormatName, isWritable, type Schema, schemaAt } from "./schema.ts";
import { compileSchema } from "./schema-compiler.ts";
import { meantPlaces, unknownKeys } from "./unknown-keys.ts";
import type { ValidParts } from "./valid-parts.ts";

/**
 * Repairs a value in place so that the rest of it can be checked further. Scalars with mistakes are replaced by valid
 * placeholders, so that nothing else misses them; so are parts that their object needs. Misspelled and misplaced keys
 * are moved to the field that they mean. Other fields are removed, items of lists of parts become `undefined`, and where
 * that leaves an invalid object, the object goes too. `unknown` are places whose value is not known, such as those of
 * unset variables.
 */
export function repairedValue(
  value: ConfigValue,
  schema: Schema,
  validate: ValidateFunction,
  unknown: readonly ConfigPath[],
): ValidParts<ConfigValue> {
  const repair = new Repair(value, schema);
  let isValid = validate;
  let mistakes: readonly Mistake[] = unknown.map((part) => ({ part }));
  // Removing a field can break its owner, which is then repaired in the next round.
  do {
    for (const mistake of mistakes) {
      if (!repair.one(mistake)) return { value: undefined, broken: [...repair.broken, []] };
    }
    // A validator knows the fields that its value had when it was compiled.
    if (repair.takeAdded()) isValid = compileSchema(schema, [value]);
    const errors = isValid(value) ? [] : (isValid.errors ?? []);
    const places = meantPlaces(unknownKeys(errors, { value, more: new Map() }, schema));
    const meant = new Map(places.map(({ from, to }) => [formatPath(from), to]));
    const found = errors.flatMap((error) => mistakesOf(error, { value, schema, meant }));
    // Nothing is missing that is only in another place.
    mistakes = found.toSorted(
      (a, b) => Number(b.meant !== undefined) - Number(a.meant !== undefined),
    );
  } while (mistakes.length > 0);
  return { value, broken: repair.broken };
}

/** A mistake of a value. */
interface Mistake {
  /** The part with the mistake. */
  readonly part: ConfigPath;
  /** The absent field that the part needs, if that is what is wrong. */
  readonly needs?: ConfigPath;
  /** The absent field that the part is meant to be. */
  readonly meant?: ConfigPath | undefined;
}

class Repair {
  /** The places that were removed or replaced. */
  readonly broken: ConfigPath[] = [];
  readonly #value: ConfigValue;
  readonly #schema: Schema;
  readonly #replaced = new Set<string>();
  #scalars: Set<unknown> | undefined;
  #hasAdded = false;

  constructor(value: ConfigValue, schema: Schema) {
    this.#value = value;
    this.#schema = schema;
  }

  /** Whether fields were added since the last call. */
  takeAdded(): boolean {
    const hasAdded = this.#hasAdded;
    this.#hasAdded = false;
    return hasAdded;
  }

  /** Repairs one mistake; `false` if the whole value would have to go. */
  one({ part, needs, meant }: Mistake): boolean {
    if (meant !== undefined && this.#move(part, meant)) return true;
    if (needs !== undefined) {
      const owner = configValueAt(this.#value, needs.slice(0, -1));
      const key = needs.at(-1);
      // Another repair may have added it, or another field of a choice.
      const isChoice = part.length < needs.length;
      if (isObject(owner) && key !== undefined && !this.#isExcluded(needs, owner)) {
        if (Object.hasOwn(owner, key)) return true;
        if (this.#replace(owner, needs, key, true)) {
          this.broken.push(needs);
          return true;
        }
      } else if (isChoice) return true;
    }
    return this.#at(part);
  }

  /** Moves a key to the absent field that it means; `false` if that is not possible. */
  #move(from: ConfigPath, to: ConfigPath): boolean {
    const source = configValueAt(this.#value, from.slice(0, -1));
    const target = configValueAt(this.#value, to.slice(0, -1));
    const [key, field] = [from.at(-1), to.at(-1)];
    if (!isObject(source) || !isObject(target) || Array.isArray(target)) return false;
    if (key === undefined || field === undefined || Object.hasOwn(target, field)) return false;
    if (this.#isExcluded(to, target)) return false;
    this.#hasAdded = true;
    Reflect.set(target, field, Reflect.get(source, key));
    Reflect.deleteProperty(source, key);
    this.broken.push(from, to);
    return true;
  }

  /** Whether a field cannot be next to those that its object has. */
  #isExcluded(path: ConfigPath, owner: object): boolean {
    const { exactlyOneOf = [], atMostOneOf = [] } = schemaAt(this.#schema, path.slice(0, -1)) ?? {};
    const field = String(path.at(-1));
    return [exactlyOneOf, atMostOneOf].some(
      (names) => names.includes(field) && names.some((name) => Object.hasOwn(owner, name)),
    );
  }

  /** Repairs the smallest part around a path; `false` if that is the whole value. */
  #at(path: ConfigPath): boolean {
    const last = path.at(-1);
    if (last === undefined) return false;
    const owner = configValueAt(this.#value, path.slice(0, -1));
    // An earlier repair removed it.
    if (!isObject(owner)) return true;
    const schema = schemaAt(this.#schema, path.slice(0, -1)) ?? {};
    const isList = Array.isArray(owner);
    const isRequired = isList ? schema.hasParts !== true : isNeeded(String(last), owner, schema);
    // Others refer to the entries of a map by their keys.
    const isEntry = !isList && schema.properties === undefined;
    if (!this.#replace(owner, path, last, isRequired || isEntry)) {
      if (isRequired) return this.#at(path.slice(0, -1));
      if (isList) Reflect.set(owner, last, undefined);
      else Reflect.deleteProperty(owner, last);
    }
    this.broken.push(path);
    // Later phases judge a list of words as a whole, and its placeholder is a word like any other.
    if (isList && schemaAt(this.#schema, path)?.enum !== undefined)
      this.broken.push(path.slice(0, -1));
    return true;
  }

  /** Replaces a scalar, and with `isRequired` any value, by a placeholder; `false` if that is not possible. */
  #replace(owner: object, path: ConfigPath, last: string | number, isRequired: boolean): boolean {
    const key = JSON.stringify(path);
    // Its placeholder did not help.
    if (this.#replaced.has(key)) return false;
    this.#replaced.add(key);
    const schema = schemaAt(this.#schema, path) ?? {};
    if (!isWritable(schema)) return false;
    const value = this.#scalar(schema) ?? (isRequired ? this.#placeholder(schema) : undefined);
    if (value === undefined) return false;
    this.#hasAdded ||= !Object.hasOwn(owner, last) || isObject(value);
    Reflect.set(owner, last, value);
    return true;
  }

  /** A valid value of a schema with as few parts as possible. */
  #placeholder(schema: Schema): unknown {
    const { properties = {}, required = [], items, minItems = 0 } = schema;
    const types = [schema.type ?? []].flat();
    if (types.includes("object")) {
      const { exactlyOneOf = [], atLeastOneOf = [] } = schema;
      const usable = (name: string): boolean => isWritable(properties[name] ?? {});
      const chosen = [exactlyOneOf, atLeastOneOf].flatMap((names) =>
        names.some((name) => required.includes(name)) ? [] : names.filter(usable).slice(0, 1),
      );
      const fields = [...required, ...chosen].map((name): readonly [string, unknown] => [
        name,
        this.#placeholder(properties[name] ?? {}),
      ]);
      return fields.some(([, value]) => value === undefined)
        ? undefined
        : Object.assign(Object.create(null), Object.fromEntries(fields));
    }
    if (!types.includes("array")) return this.#scalar(schema);
    const item = minItems > 0 ? this.#placeholder(items ?? {}) : undefined;
    if (minItems > 0 && item === undefined) return undefined;
    return Array.from({ length: minItems }, () => structuredClone(item));
  }

  /** A valid scalar of a schema, and another one each time where equal ones could conflict. */
  #scalar(schema: Schema): string | number | boolean | undefined {
    this.#scalars ??= scalarsIn(this.#value, new Set());
    const taken = this.#scalars;
    const candidates = placeholders(schema);
    const value = candidates.find((each) => !taken.has(each)) ?? candidates[0];
    if (value !== undefined) taken.add(value);
    return value;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether an object is invalid without a field. */
function isNeeded(key: string, owner: object, schema: Schema): boolean {
  const { required = [], exactlyOneOf = [], atLeastOneOf = [] } = schema;
  const isAlone = (names: readonly string[]): boolean =>
    names.includes(key) && names.every((name) => name === key || !Object.hasOwn(owner, name));
  return required.includes(key) || isAlone(exactlyOneOf) || isAlone(atLeastOneOf);
}

/** A value with mistakes, and the fields that its unknown keys mean, by the path of the key. */
interface Mistaken {
  readonly value: ConfigValue;
  readonly schema: Schema;
  readonly meant: ReadonlyMap<string, ConfigPath>;
}

/** Returns the mistakes that an error stands for. */
function mistakesOf(error: ErrorObject, mistaken: Mistaken): readonly Mistake[] {
  const { keyword, params, instancePath, propertyName } = error;
  const { value, schema: root, meant } = mistaken;
  // The error of `propertyNames` comes next to those of the name itself.
  if (propertyName !== undefined) return [];
  const path = pointerPath(instancePath, value);
  const found = configValueAt(value, path);
  // A removed item.
  if (found === undefined) return [];
  if (found === null) return [{ part: path }];
  const inside = (key: unknown): ConfigPath => [...path, String(key)];
  switch (keyword) {
    case "maxItems":
    case "maxProperties":
      // Reported, and each of its items is checked all the same.
      return [];
    case "additionalProperties": {
      const part = inside(params.additionalProperty);
      return [{ part, meant: meant.get(formatPath(part)) }];
    }
    case "propertyNames":
      return [{ part: inside(params.propertyName) }];
    case "required":
      return [{ part: inside(params.missingProperty) }];
    case "exactlyOneOf":
    case "atLeastOneOf":
    case "atMostOneOf": {
      const names = schemaAt(root, path)?.[keyword] ?? [];
      const [first, ...others] = names.filter((name) => Object.hasOwn(found, name));
      if (others.length > 0) return others.map((name) => ({ part: inside(name) }));
      const usable = names.find((name) => isWritable(schemaAt(root, inside(name)) ?? {}));
      return first !== undefined || usable === undefined
        ? [{ part: path }]
        : [{ part: path, needs: inside(usable) }];
    }
    case "checks": {
      const { field, needs } = brokenCheck(found, schemaAt(root, path) ?? {});
      const part = field === undefined ? path : inside(field);
      return [needs === undefined ? { part } : { part, needs: inside(needs) }];
    }
    default:
      return [{ part: path }];
  }
}

/** The present field that breaks a rule of its object, and the absent one that it needs. */
function brokenCheck(
  object: unknown,
  { checks = [] }: Schema,
): { readonly field?: string; readonly needs?: string } {
  // The keyword applies to objects only.
  const fields = object as Readonly<Record<string, unknown>>;
  const broken = checks.find((check) => !check.holds(fields));
  const { field, needs } = broken ?? {};
  return {
    ...(field !== undefined && Object.hasOwn(fields, field) && { field }),
    ...(needs !== undefined && !Object.hasOwn(fields, needs) && { needs }),
  };
}

/** Valid scalars of a schema, several where equal ones could conflict; empty for mappings and lists. */
function placeholders(schema: Schema): readonly (string | number | boolean)[] {
  if (schema.enum !== undefined) {
    const preferred = schema.enum.filter((each) => each === schema.default);
    return [...preferred, ...schema.enum].slice(0, 1);
  }
  const types = [schema.type ?? []].flat();
  if (types.includes("string")) return strings(schema);
  if (types.includes("integer") || types.includes("number")) {
    const { minimum = 0, maximum = minimum + COUNT } = schema;
    return NUMBERS.map((number) => maximum - number).filter((number) => number >= minimum);
  }
  return types.includes("boolean") ? [false] : [];
}

/** Placeholders that one field may have in one file. */
const COUNT = 1_000;

const NUMBERS = Array.from({ length: COUNT }, (_, index) => index);

function strings(schema: Schema): readonly string[] {
  const {
    format,
    declares,
    expression,
    minimumDuration,
    minLength = 0,
    maxLength = Infinity,
  } = schema;
  if (expression === true) return ["true"];
  if (minimumDuration !== undefined) return [minimumDuration];
  const given = [schema.default, ...(schema.examples ?? [])].filter(
    (each) => typeof each === "string",
  );
  const isName = declares !== undefined;
  const any = NUMBERS.flatMap(words);
  const all =
    format === undefined ? (isName ? [...any, ...given] : [...given, ...any]) : FORMATS[format];
  return all.filter(
    (each) =>
      each.length >= minLength &&
      each.length <= maxLength &&
      ((format === undefined && schema.pattern === undefined) || fitsForm(schema, each)),
  );
}

function words(number: number): readonly string[] {
  return [`placeholder-${number}`, `/placeholder-${number}`, `PLACEHOLDER_${number}`];
}

const FORMATS: Readonly<Record<FormatName, readonly string[]>> = {
  duration: ["1s"],
  gatewayDuration: ["1s"],
  url: NUMBERS.map((number) => `http://placeholder-${number}.invalid`),
  // It overlaps with every other hostname, so that routes still attach to their listeners.
  hostname: ["*"],
  cidr: ["192.0.2.0/24"],
  ip: ["192.0.2.1"],
  address: NUMBERS.map((number) => `127.0.0.1:${number + 1}`),
  "address-or-off": NUMBERS.map((number) => `127.0.0.1:${number + 1}`),
};

function scalarsIn(value: ConfigValue | undefined, found: Set<unknown>): Set<unknown> {
  if (typeof value !== "object" || value === null) return found.add(value);
  for (const each of Object.values(value)) scalarsIn(each, found);
  return found;
}
