import type { ErrorObject, ValidateFunction } from "ajv";
import type { ConfigPath } from "../diagnostics/diagnostic.ts";
import type { ConfigValue } from "./config-values.ts";
import { configValueAt, pointerPath } from "./config-values.ts";
import { fitsForm } from "./formats.ts";
import { type FormatName, isWritable, type Schema, schemaAt } from "./schema.ts";
import type { ValidParts } from "./valid-parts.ts";

/**
 * Repairs a value in place so that the rest of it can be checked further: scalars with mistakes are replaced by valid
 * placeholders, so that nothing else misses them. Other fields are removed, items of lists of parts become `undefined`, and
 * where that leaves an invalid object, the object goes too. `unknown` are places whose value is not known, such as those of
 * unset variables.
 */
export function repairedValue(
  value: ConfigValue,
  schema: Schema,
  validate: ValidateFunction,
  unknown: readonly ConfigPath[],
): ValidParts<ConfigValue> {
  const repair = new Repair(value, schema);
  let mistakes = unknown;
  // Removing a field can break its owner, which is then repaired in the next round.
  do {
    for (const path of mistakes) {
      if (!repair.at(path)) return { value: undefined, broken: [...repair.broken, []] };
    }
    const errors = validate(value) ? [] : (validate.errors ?? []);
    mistakes = errors.flatMap((error) => mistakenPaths(error, value, schema));
  } while (mistakes.length > 0);
  return { value, broken: repair.broken };
}

class Repair {
  /** The places that were removed or replaced. */
  readonly broken: ConfigPath[] = [];
  readonly #value: ConfigValue;
  readonly #schema: Schema;
  readonly #replaced = new Set<string>();
  #scalars: Set<unknown> | undefined;

  constructor(value: ConfigValue, schema: Schema) {
    this.#value = value;
    this.#schema = schema;
  }

  /** Repairs the smallest part around a path; `false` if that is the whole value. */
  at(path: ConfigPath): boolean {
    const last = path.at(-1);
    if (last === undefined) return false;
    const owner = configValueAt(this.#value, path.slice(0, -1));
    // An earlier repair removed it.
    if (typeof owner !== "object" || owner === null) return true;
    const schema = schemaAt(this.#schema, path.slice(0, -1)) ?? {};
    if (!this.#replace(owner, path, last)) {
      if (Array.isArray(owner)) {
        if (!schema.hasParts) return this.at(path.slice(0, -1));
        Reflect.set(owner, last, undefined);
      } else {
        if (isNeeded(String(last), owner, schema)) return this.at(path.slice(0, -1));
        Reflect.deleteProperty(owner, last);
      }
    }
    this.broken.push(path);
    // Later phases judge a list of words as a whole, and its placeholder is a word like any other.
    if (Array.isArray(owner) && schemaAt(this.#schema, path)?.enum !== undefined)
      this.broken.push(path.slice(0, -1));
    return true;
  }

  #replace(owner: object, path: ConfigPath, last: string | number): boolean {
    const key = JSON.stringify(path);
    // Its placeholder did not help.
    if (this.#replaced.has(key)) return false;
    this.#replaced.add(key);
    this.#scalars ??= scalarsIn(this.#value, new Set());
    const taken = this.#scalars;
    const schema = schemaAt(this.#schema, path) ?? {};
    const candidates = isWritable(schema) ? placeholders(schema) : [];
    const value = candidates.find((each) => !taken.has(each)) ?? candidates[0];
    if (value === undefined) return false;
    taken.add(value);
    Reflect.set(owner, last, value);
    return true;
  }
}

/** Whether an object is invalid without a field. */
function isNeeded(key: string, owner: object, schema: Schema): boolean {
  const { required = [], exactlyOneOf = [], atLeastOneOf = [] } = schema;
  const isAlone = (names: readonly string[]): boolean =>
    names.includes(key) && names.every((name) => name === key || !Object.hasOwn(owner, name));
  return required.includes(key) || isAlone(exactlyOneOf) || isAlone(atLeastOneOf);
}

/** The parts that an error is about. */
function mistakenPaths(
  { keyword, params, instancePath, propertyName }: ErrorObject,
  value: ConfigValue,
  root: Schema,
): readonly ConfigPath[] {
  // The error of `propertyNames` comes next to those of the name itself.
  if (propertyName !== undefined) return [];
  const path = pointerPath(instancePath, value);
  const found = configValueAt(value, path);
  // A removed item.
  if (found === undefined) return [];
  if (found === null) return [path];
  const inside = (key: unknown): ConfigPath => [...path, String(key)];
  switch (keyword) {
    case "maxItems":
    case "maxProperties":
      // Reported, and each of its items is checked all the same.
      return [];
    case "additionalProperties":
      return [inside(params.additionalProperty)];
    case "propertyNames":
      return [inside(params.propertyName)];
    case "required":
      return [inside(params.missingProperty)];
    case "exactlyOneOf":
    case "atMostOneOf": {
      const names = schemaAt(root, path)?.[keyword]?.filter((name) => Object.hasOwn(found, name));
      const others = names?.slice(1) ?? [];
      return others.length === 0 ? [path] : others.map(inside);
    }
    case "checks":
      return [brokenField(found, schemaAt(root, path) ?? {}).map(inside)[0] ?? path];
    default:
      return [path];
  }
}

/** The field that breaks a rule of its object; empty if the rule names none. */
function brokenField(object: unknown, { checks = [] }: Schema): readonly string[] {
  // The keyword applies to objects only.
  const fields = object as Readonly<Record<string, unknown>>;
  const broken = checks.find((check) => !check.holds(fields));
  return broken?.field !== undefined && Object.hasOwn(fields, broken.field) ? [broken.field] : [];
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
  const { format, expression, minimumDuration, minLength = 0, maxLength = Infinity } = schema;
  if (expression === true) return ["true"];
  if (minimumDuration !== undefined) return [minimumDuration];
  const given = [schema.default, ...(schema.examples ?? [])].filter(
    (each) => typeof each === "string",
  );
  const all = format === undefined ? [...NUMBERS.flatMap(words), ...given] : FORMATS[format];
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
