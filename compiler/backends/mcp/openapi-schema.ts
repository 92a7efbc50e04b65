import { isJsonObject } from "../../../runtime/json/json-object.ts";
import type { Json } from "../../model/json.ts";

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Returns the value as an object; an empty one if it is not an object. */
export function schemaObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the items of a list; an empty list if it is not a list. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Resolves a reference within the document (`#/components/...`) and returns other values unchanged; `undefined` if
 * the reference is broken or leads out of the document.
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
    else found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}

/** Maximum length of a chain of references; a longer one is circular. */
const MAX_STEPS = 32;

/** Decodes a reference token (RFC 6901 4). */
function decoded(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}

/**
 * Converts schemas of an OpenAPI document (3.0 or 3.1) to JSON schemas of MCP tools. Schemas that are referenced
 * in the document go to `definitions`; read-only fields are omitted.
 */
export class InputSchemas {
  readonly #document: JsonObject;
  /** Definitions by name. */
  readonly #definitions = new Map<string, JsonObject>();
  /** Names of definitions by reference. */
  readonly #names = new Map<string, string>();
  /** Number of references that end in a word. */
  readonly #endings = new Map<string, number>();
  /** Referenced schemas that are not converted yet. A queue, because a chain of references may be long. */
  readonly #pending: { readonly name: string; readonly target: JsonObject | undefined }[] = [];
  /** First reference that is broken. */
  lost: string | undefined;
  /** Whether a schema is nested deeper than `MAX_DEPTH`. */
  isTooDeep = false;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** Referenced schemas so far, for `$defs`; `undefined` if there are no references. */
  get definitions(): JsonObject | undefined {
    return this.#definitions.size === 0 ? undefined : Object.fromEntries(this.#definitions);
  }

  /** Converts a schema, and everything that it references to `definitions`. */
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
    const copied = Object.entries(given).filter(([key]) => COPIED.has(key));
    const schema = {
      ...Object.fromEntries(copied),
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

  /** Returns the last segment of a reference, with a number if the name is taken. */
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

  /** Converts the schemas within a schema. */
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

/** Maximum nesting of schemas; references start again at 0. TypeScript compares about twice as many. */
const MAX_DEPTH = 20;

/** Keywords with the same meaning in both dialects. */
const COPIED: ReadonlySet<string> = new Set([
  ...["type", "format", "title", "description", "default", "enum", "const", "pattern"],
  ...["minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minimum", "maximum"],
  ...["multipleOf", "minProperties", "maxProperties", "deprecated"],
]);

/** Converts exclusive bounds, which OpenAPI 3.0 marks with a boolean. */
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

/** Converts OpenAPI 3.0's `nullable`. */
function orNull(schema: JsonObject): JsonObject {
  const { type, enum: words } = schema;
  return {
    ...schema,
    ...(typeof type === "string" && { type: [type, "null"] }),
    ...(words !== undefined && { enum: [...itemsOf(words), null] }),
  };
}
