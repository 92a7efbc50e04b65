import { longNumberText } from "./exact-json.ts";

/** JSON Schema (draft 2020-12), limited to the keywords named here. Other keywords are ignored. */
export interface ValueSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ValueSchema;
  readonly items?: ValueSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly allOf?: readonly ValueSchema[];
  readonly anyOf?: readonly ValueSchema[];
  readonly oneOf?: readonly ValueSchema[];
  readonly not?: ValueSchema;
  readonly $defs?: Readonly<Record<string, ValueSchema>>;
  readonly [annotation: string]: unknown;
}

/** Maximum nesting depth of a value, and maximum length of a chain of references. */
const MAX_DEPTH = 100;

/**
 * Returns the first problem of a value of `parseExact`, starting with its path (`body.name`); `undefined` if the value is
 * valid. References resolve to the `$defs` of the whole schema.
 */
export function schemaProblem(
  schema: ValueSchema,
  value: unknown,
  place: string,
): string | undefined {
  const check = new SchemaCheck(schema.$defs ?? {});
  const problem = check.problem(schema, value, place, 0);
  return problem ?? check.limit;
}

/** Maximum number of comparisons of a value with a schema: recursive schemas may never terminate otherwise. */
const MAX_STEPS = 1_000_000;

class SchemaCheck {
  /** Reason why a part of the value could not be checked; `undefined` if all of it was. */
  limit: string | undefined;
  #steps = 0;
  readonly #definitions: Readonly<Record<string, ValueSchema>>;

  constructor(definitions: Readonly<Record<string, ValueSchema>>) {
    this.#definitions = definitions;
  }

  problem(schema: ValueSchema, value: unknown, place: string, depth: number): string | undefined {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS)
      this.limit ??= `${place} takes too long to validate against its schema`;
    if (depth > MAX_DEPTH) this.limit ??= `${place} is nested too deeply`;
    if (this.limit !== undefined) return this.limit;
    return (
      this.#ofReference(schema, value, place, depth) ??
      ofType(schema, value, place) ??
      ofChoice(schema, value, place) ??
      ofSize(schema, value, place) ??
      this.#ofObject(schema, value, place, depth) ??
      this.#ofArray(schema, value, place, depth) ??
      this.#ofCombination(schema, value, place, depth)
    );
  }

  #ofReference(
    { $ref }: ValueSchema,
    value: unknown,
    place: string,
    depth: number,
  ): string | undefined {
    const name = $ref?.slice("#/$defs/".length) ?? "";
    const named = Object.hasOwn(this.#definitions, name) ? this.#definitions[name] : undefined;
    return named && this.problem(named, value, place, depth + 1);
  }

  #ofObject(schema: ValueSchema, value: unknown, place: string, depth: number): string | undefined {
    if (typeOf(value) !== "object") return undefined;
    const { properties = {}, required = [], additionalProperties = true } = schema;
    const members = new Map(Object.entries(value ?? {}));
    const missing = required.find((name) => !members.has(name));
    if (missing !== undefined) return `${below(place, missing)} is missing`;
    for (const [name, each] of members) {
      const at = below(place, name);
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (own === undefined && additionalProperties === false) return `${at} is an unknown field`;
      const found =
        own ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
      const problem = found && this.problem(found, each, at, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #ofArray(
    { items }: ValueSchema,
    value: unknown,
    place: string,
    depth: number,
  ): string | undefined {
    if (items === undefined || !Array.isArray(value)) return undefined;
    for (const [index, each] of value.entries()) {
      const problem = this.problem(items, each, `${place}[${index}]`, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #ofCombination(
    { allOf = [], anyOf, oneOf, not }: ValueSchema,
    value: unknown,
    place: string,
    depth: number,
  ): string | undefined {
    const problemOf = (schema: ValueSchema) => this.problem(schema, value, place, depth + 1);
    const wrong = allOf.map(problemOf).find((problem) => problem !== undefined);
    if (wrong !== undefined) return wrong;
    const [first, ...others] = (anyOf ?? []).map(problemOf);
    if (first !== undefined && others.every((problem) => problem !== undefined)) return first;
    const matching = oneOf?.filter((schema) => problemOf(schema) === undefined).length ?? 1;
    if (matching === 0) return `${place} matches no alternative of "oneOf"`;
    if (matching > 1) return `${place} matches more than one alternative of "oneOf"`;
    return not !== undefined && problemOf(not) === undefined
      ? `${place} matches the schema of "not"`
      : undefined;
  }
}

function ofType({ type }: ValueSchema, value: unknown, place: string): string | undefined {
  if (type === undefined) return undefined;
  const allowed = typeof type === "string" ? [type] : type;
  const found = typeOf(value);
  if (allowed.includes(found) || (found === "integer" && allowed.includes("number")))
    return undefined;
  return `${place} is not of type ${allowed.join(" or ")}`;
}

/** Returns the JSON Schema type: `integer` for any number without a fraction, however it is written. */
function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  const long = longNumberText(value);
  if (long !== undefined) return /^-?\d+$/.test(long) ? "integer" : "number";
  return typeof value;
}

function ofChoice(schema: ValueSchema, value: unknown, place: string): string | undefined {
  const allowed = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  const written = JSON.stringify(value);
  if (allowed === undefined || allowed.some((each) => JSON.stringify(each) === written))
    return undefined;
  return `${place} must be one of ${allowed.map((each) => JSON.stringify(each)).join(", ")}`;
}

function ofSize(schema: ValueSchema, value: unknown, place: string): string | undefined {
  const { minItems = 0, maxItems = Infinity, minLength = 0, maxLength = Infinity } = schema;
  if (Array.isArray(value)) {
    if (value.length < minItems) return `${place} has fewer than ${minItems} items`;
    return value.length > maxItems ? `${place} has more than ${maxItems} items` : undefined;
  }
  if (typeof value === "string") {
    // JSON Schema counts characters, not UTF-16 units.
    const length = maxLength === Infinity && minLength === 0 ? 0 : Array.from(value).length;
    if (length < minLength) return `${place} has fewer than ${minLength} characters`;
    return length > maxLength ? `${place} has more than ${maxLength} characters` : undefined;
  }
  const type = typeOf(value);
  return type === "integer" || type === "number"
    ? ofRange(schema, Number(longNumberText(value) ?? value), place)
    : undefined;
}

function ofRange(schema: ValueSchema, value: number, place: string): string | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  if (value < minimum) return `${place} is less than ${minimum}`;
  if (value > maximum) return `${place} is more than ${maximum}`;
  if (value <= exclusiveMinimum) return `${place} is not more than ${exclusiveMinimum}`;
  return value >= exclusiveMaximum ? `${place} is not less than ${exclusiveMaximum}` : undefined;
}

function below(place: string, name: string): string {
  return place === "" ? name : `${place}.${name}`;
}
