import type { Json } from "../../model/json.ts";

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** The value as an object; empty where it is none. */
export function schemaObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The items of a list; none where it is no list. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/**
 * What a reference within the document leads to (`#/components/...`), the value itself where it is none; undefined: it leads
 * nowhere, or out of the document.
 */
export function followed(value: Json | undefined, document: JsonObject): JsonObject | undefined {
  let found: JsonObject | undefined = schemaObject(value);
  for (let steps = 0; typeof found?.$ref === "string"; steps += 1) {
    if (steps === MAX_STEPS || !found.$ref.startsWith("#/")) return undefined;
    found = valueAt(document, found.$ref.slice(2).split("/").map(decoded));
  }
  return found;
}

function valueAt(document: JsonObject, path: readonly string[]): JsonObject | undefined {
  let found: Json | undefined = document;
  for (const key of path) {
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) ? found : undefined;
}

/** A chain of references that is longer leads to itself. */
const MAX_STEPS = 32;

/** RFC 6901 4. */
function decoded(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}

/**
 * Schemas of an OpenAPI document (3.0 or 3.1) as those of MCP's tools: JSON schemas in which what is named in the
 * document is named in `definitions`. Fields that only responses have are left out.
 */
export class InputSchemas {
  readonly #document: JsonObject;
  /** By name. */
  readonly #definitions = new Map<string, JsonObject>();
  /** By reference. */
  readonly #names = new Map<string, string>();
  /** How many references end in a word. */
  readonly #endings = new Map<string, number>();
  /** What was referred to and is still to be read: a chain of references may be long. */
  readonly #pending: { readonly name: string; readonly target: JsonObject | undefined }[] = [];
  /** A reference that leads nowhere in the document. */
  lost: string | undefined;
  /** A schema holds others within others, deeper than anybody writes them. */
  isTooDeep = false;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** What the schemas so far refer to, for `$defs`; undefined: nothing. */
  get definitions(): JsonObject | undefined {
    return this.#definitions.size === 0 ? undefined : Object.fromEntries(this.#definitions);
  }

  /** A schema, with all that it refers to in `definitions`. */
  schemaOf(value: Json | undefined): JsonObject {
    const schema = this.#converted(value, 0);
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#definitions.set(next.name, this.#converted(next.target, 0));
    }
    return schema;
  }

  #converted(value: Json | undefined, depth: number): JsonObject {
    const given = schemaObject(value);
    if (depth > MAX_DEPTH) {
      this.isTooDeep = true;
      return {};
    }
    if (typeof given.$ref === "string") return this.#referenceOf(given.$ref, given);
    const kept = Object.entries(given).filter(([key]) => KEPT.has(key));
    const schema = {
      ...Object.fromEntries(kept),
      ...bounds(given),
      ...this.#nested(given, depth + 1),
    };
    return given.nullable === true ? orNull(schema) : schema;
  }

  #referenceOf(reference: string, given: JsonObject): JsonObject {
    const known = this.#names.get(reference);
    const name = known ?? this.#newName(reference);
    if (known === undefined) {
      this.#names.set(reference, name);
      this.#definitions.set(name, {});
      const target = followed(given, this.#document);
      if (target === undefined) this.lost ??= reference;
      this.#pending.push({ name, target });
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** The last word of a reference, with a number where another one ends so. */
  #newName(reference: string): string {
    const word = reference.replace(/^.*\//, "").replace(/[^\w.-]+/g, "_");
    let count = this.#endings.get(word) ?? 0;
    let name: string;
    do {
      count += 1;
      name = count === 1 ? word : `${word}${count}`;
    } while (this.#definitions.has(name));
    this.#endings.set(word, count);
    return name;
  }

  /** The schemas within a schema. */
  #nested(given: JsonObject, depth: number): JsonObject {
    const all = (key: string) => itemsOf(given[key]).map((each) => this.#converted(each, depth));
    const properties = Object.entries(schemaObject(given.properties)).filter(
      ([, each]) => followed(each, this.#document)?.readOnly !== true,
    );
    const names = properties.map(([name]) => name);
    const isWritten = (name: Json) =>
      names.includes(String(name)) || !Object.hasOwn(schemaObject(given.properties), String(name));
    const { additionalProperties: others } = given;
    return {
      ...(given.properties !== undefined && {
        properties: Object.fromEntries(
          properties.map(([name, each]) => [name, this.#converted(each, depth)]),
        ),
      }),
      ...(given.required !== undefined && { required: itemsOf(given.required).filter(isWritten) }),
      ...(others !== undefined && {
        additionalProperties: typeof others === "boolean" ? others : this.#converted(others, depth),
      }),
      ...(given.items !== undefined && { items: this.#converted(given.items, depth) }),
      ...(given.not !== undefined && { not: this.#converted(given.not, depth) }),
      ...Object.fromEntries(
        ["allOf", "anyOf", "oneOf"]
          .filter((key) => given[key] !== undefined)
          .map((key) => [key, all(key)]),
      ),
    };
  }
}

/** Schemas within a schema; what is named in the document begins anew. TypeScript compares about twice as many. */
const MAX_DEPTH = 20;

/** Words of a schema that mean the same in both languages. */
const KEPT: ReadonlySet<string> = new Set([
  ...["type", "format", "title", "description", "default", "enum", "const", "pattern"],
  ...["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minimum", "maximum"],
  ...["multipleOf", "minProperties", "maxProperties", "deprecated"],
]);

/** OpenAPI 3.0 says beside a bound that it is not included. */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): JsonObject {
  return {
    ...bound("minimum", "exclusiveMinimum", minimum, exclusiveMinimum),
    ...bound("maximum", "exclusiveMaximum", maximum, exclusiveMaximum),
  };
}

function bound(
  key: string,
  exclusiveKey: string,
  value: Json | undefined,
  exclusive: Json | undefined,
): JsonObject {
  if (exclusive === true) return { [key]: undefined, [exclusiveKey]: value };
  return typeof exclusive === "number" ? { [exclusiveKey]: exclusive } : {};
}

/** OpenAPI 3.0's `nullable`. */
function orNull(schema: JsonObject): JsonObject {
  const { type, enum: words } = schema;
  return {
    ...schema,
    ...(typeof type === "string" && { type: [type, "null"] }),
    ...(words !== undefined && { enum: [...itemsOf(words), null] }),
  };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
