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

/** What a reference within the document leads to (`#/components/...`); the value itself where it is none. */
export function followed(value: Json | undefined, document: JsonObject): JsonObject {
  let found = schemaObject(value);
  for (let steps = 0; typeof found.$ref === "string" && steps < MAX_STEPS; steps += 1) {
    if (!found.$ref.startsWith("#/")) return {};
    const path = found.$ref.slice(2).split("/").map(decoded);
    found = path.reduce(
      (at, key) => schemaObject(Object.hasOwn(at, key) ? at[key] : undefined),
      document,
    );
  }
  return found;
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
  readonly #definitions = new Map<string, JsonObject>();

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** What the schemas so far refer to, for `$defs`; undefined: nothing. */
  get definitions(): JsonObject | undefined {
    return this.#definitions.size === 0 ? undefined : Object.fromEntries(this.#definitions);
  }

  schemaOf(value: Json | undefined): JsonObject {
    const given = schemaObject(value);
    if (typeof given.$ref === "string") return this.#referenceOf(given.$ref, given);
    const kept = Object.entries(given).filter(([key]) => KEPT.has(key));
    const schema = { ...Object.fromEntries(kept), ...bounds(given), ...this.#nested(given) };
    return given.nullable === true ? orNull(schema) : schema;
  }

  #referenceOf(reference: string, given: JsonObject): JsonObject {
    const name = reference.replace(/^.*\//, "");
    if (!this.#definitions.has(name)) {
      // It may lead back to itself.
      this.#definitions.set(name, {});
      this.#definitions.set(name, this.schemaOf(followed(given, this.#document)));
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** The schemas within a schema. */
  #nested(given: JsonObject): JsonObject {
    const all = (key: string) => itemsOf(given[key]).map((each) => this.schemaOf(each));
    const properties = Object.entries(schemaObject(given.properties)).filter(
      ([, each]) => followed(each, this.#document).readOnly !== true,
    );
    const names = properties.map(([name]) => name);
    const isWritten = (name: Json) =>
      names.includes(String(name)) || !Object.hasOwn(schemaObject(given.properties), String(name));
    const { additionalProperties: others } = given;
    return {
      ...(given.properties !== undefined && {
        properties: Object.fromEntries(
          properties.map(([name, each]) => [name, this.schemaOf(each)]),
        ),
      }),
      ...(given.required !== undefined && { required: itemsOf(given.required).filter(isWritten) }),
      ...(others !== undefined && {
        additionalProperties: typeof others === "boolean" ? others : this.schemaOf(others),
      }),
      ...(given.items !== undefined && { items: this.schemaOf(given.items) }),
      ...(given.not !== undefined && { not: this.schemaOf(given.not) }),
      ...Object.fromEntries(
        ["allOf", "anyOf", "oneOf"]
          .filter((key) => given[key] !== undefined)
          .map((key) => [key, all(key)]),
      ),
    };
  }
}

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
