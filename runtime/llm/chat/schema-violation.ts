import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";

/** Maximum depth of values that are checked. */
const MAX_DEPTH = 64;
/** Maximum number of checks: schemas can refer to each other so often that a complete check never ends. */
const MAX_CHECKS = 100_000;

/**
 * Returns the first place of a value that breaks its JSON Schema: `items[2].price: minimum 0`; `undefined` if there is none.
 * Checks structure, and the keywords that providers do not enforce. Patterns and formats are not checked.
 */
export function schemaViolation(value: unknown, schema: unknown): string | undefined {
  return new Check(schema).violation(value, schema, "", 0);
}

class Check {
  readonly #root: unknown;
  #checks = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  violation(value: unknown, schema: unknown, at: string, depth: number): string | undefined {
    this.#checks += 1;
    const isOver = depth > MAX_DEPTH || this.#checks > MAX_CHECKS;
    if (!isJsonObject(schema) || isOver) return undefined;
    const inside = (each: unknown, of: unknown, place: string) =>
      this.violation(each, of, place, depth + 1);
    const { $ref: ref, allOf = [], anyOf, oneOf } = schema;
    if (typeof ref === "string") return inside(value, this.#definition(ref), at);
    const own = keywordViolation(value, schema);
    if (own !== undefined) return `${at === "" ? "the value" : at}: ${own}`;
    const parts = Array.isArray(allOf) ? allOf : [];
    const part = first(parts, (each) => inside(value, each, at));
    if (part !== undefined) return part;
    const union = anyOf ?? oneOf;
    if (Array.isArray(union)) {
      const problems = union.map((each) => inside(value, each, at));
      if (problems.every((each) => each !== undefined)) return problems[0];
    }
    if (Array.isArray(value)) {
      const { items } = schema;
      return first([...value.entries()], ([index, each]) => inside(each, items, `${at}[${index}]`));
    }
    if (!isJsonObject(value)) return undefined;
    const { properties, additionalProperties: others } = schema;
    const named = isJsonObject(properties) ? properties : {};
    return first(Object.entries(value), ([name, each]) => {
      const isNamed = Object.hasOwn(named, name);
      // A name that the schema lacks is content of the model, which guards may have masked.
      const shown = isNamed ? name : "*";
      const place = at === "" ? shown : `${at}.${shown}`;
      if (isNamed) return inside(each, named[name], place);
      return others === false
        ? `${place}: additionalProperties false`
        : inside(each, others, place);
    });
  }

  #definition(ref: string): unknown {
    let found = this.#root;
    if (ref === "#") return found;
    for (const step of ref.replace(/^#\//, "").split("/")) {
      found = isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
    }
    return found;
  }
}

/** Returns the first result that is not `undefined`. */
function first<Item>(
  items: readonly Item[],
  find: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the keyword that a value breaks, apart from its members. */
function keywordViolation(value: unknown, schema: JsonObject): string | undefined {
  const broken = Object.entries(KEYWORDS).find(([key, isMet]) => {
    const limit = schema[key];
    return limit !== undefined && !isMet(value, limit);
  });
  return broken && `${broken[0]} ${JSON.stringify(schema[broken[0]])}`;
}

type Keyword = (value: unknown, limit: unknown) => boolean;

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: (value, type) =>
    (Array.isArray(type) ? type : [type]).some((each) => isOfType(value, each)),
  enum: (value, all) => !Array.isArray(all) || all.some((each) => isSame(each, value)),
  const: (value, only) => isSame(value, only),
  required: (value, names) =>
    !isJsonObject(value) ||
    !Array.isArray(names) ||
    names.every((name) => Object.hasOwn(value, String(name))),
  minimum: numeric((value, limit) => value >= limit),
  maximum: numeric((value, limit) => value <= limit),
  exclusiveMinimum: numeric((value, limit) => value > limit),
  exclusiveMaximum: numeric((value, limit) => value < limit),
  multipleOf: numeric((value, limit) => Number.isInteger(Number((value / limit).toPrecision(12)))),
  minLength: sized((value) => (typeof value === "string" ? [...value].length : undefined), true),
  maxLength: sized((value) => (typeof value === "string" ? [...value].length : undefined), false),
  minItems: sized((value) => (Array.isArray(value) ? value.length : undefined), true),
  maxItems: sized((value) => (Array.isArray(value) ? value.length : undefined), false),
  minProperties: sized(membersOf, true),
  maxProperties: sized(membersOf, false),
  uniqueItems: (value, isWanted) =>
    isWanted !== true ||
    !Array.isArray(value) ||
    new Set(value.map((each) => JSON.stringify(each))).size === value.length,
};

function numeric(isMet: (value: number, limit: number) => boolean): Keyword {
  return (value, limit) =>
    typeof value !== "number" || typeof limit !== "number" || isMet(value, limit);
}

function sized(sizeOf: (value: unknown) => number | undefined, isMinimum: boolean): Keyword {
  return (value, limit) => {
    const size = sizeOf(value);
    if (size === undefined || typeof limit !== "number") return true;
    return isMinimum ? size >= limit : size <= limit;
  };
}

function membersOf(value: unknown): number | undefined {
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case "object":
      return isJsonObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return true;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
