import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { FittedSchema, RequestedSchema } from "../../chat/fitted-schema.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import { schemaViolation } from "../../chat/schema-violation.ts";
import { withNotes } from "../schema-notes.ts";
import { lostKeywords, NUMERIC_FORMATS } from "./lost-keywords.ts";

/** The schema of a request that is written, for messages to the client. */
export interface SchemaPlace {
  /** `the schema of tool "x"` */
  readonly what: string;
  readonly field: string;
}

/** Checks an output whose schema has keywords that Google does not enforce. The request's writer converts schemas. */
export function fitGeminiSchema({ schema, isStrict, field }: RequestedSchema): FittedSchema {
  const writer = new SchemaWriter(schema, { what: "the schema of the output", field });
  writer.write(schema, 0);
  if (!writer.isLoose) return { schema, isStrict };
  return { schema, isStrict, check: (value) => schemaViolation(value, schema) };
}

/**
 * Converts a JSON Schema to the `Schema` of generateContent, a subset of OpenAPI 3.0. Inlines references, rewrites `allOf`
 * and `const`, and moves other keywords into descriptions. Throws LlmRefusal for a schema that refers to itself, or that is too
 * large with its references inlined.
 */
export function writeSchema(schema: unknown, place: SchemaPlace): JsonObject {
  return new SchemaWriter(schema, place).write(schema, 0);
}

/** Maximum number of schemas: nested references grow exponentially. */
const MAX_SCHEMAS = 5000;

/** Maximum nesting depth of references; deeper ones are circular. */
const MAX_DEPTH = 32;

class SchemaWriter {
  readonly #root: unknown;
  readonly #place: SchemaPlace;
  #count = 0;
  /** Whether keywords have moved into descriptions. */
  isLoose = false;

  constructor(root: unknown, place: SchemaPlace) {
    this.#root = root;
    this.#place = place;
  }

  /** `depth`: number of references that lead to this schema. */
  write(given: unknown, depth: number): JsonObject {
    const flat = this.#flat(given, depth);
    return this.#written(flat.schema, flat.depth);
  }

  /** Resolves references and `allOf`. `true` has no constraints, like `{}`. */
  #flat(given: unknown, depth: number): Flat {
    this.#count += 1;
    if (this.#count > MAX_SCHEMAS) throw this.#refusal("is too large");
    if (!isJsonObject(given)) return { schema: {}, depth };
    const { $ref: reference, allOf, ...own } = given;
    if (typeof reference === "string") {
      if (depth > MAX_DEPTH) throw this.#refusal("refers to itself");
      const target = this.#flat(this.#resolve(reference), depth + 1);
      const rest = this.#flat({ allOf, ...own }, depth);
      return { schema: joined(target.schema, rest.schema), depth: target.depth };
    }
    if (!Array.isArray(allOf)) return { schema: own, depth };
    const parts = allOf.map((part) => this.#flat(part, depth));
    return {
      schema: [...parts.map(({ schema }) => schema), own].reduce(joined),
      depth: Math.max(depth, ...parts.map((part) => part.depth)),
    };
  }

  #written(schema: JsonObject, depth: number): JsonObject {
    const { title, description, default: byDefault } = schema;
    const types = typesOf(schema);
    const kinds = types.filter((type) => type !== "null");
    const notes = choicesOf(schema) === undefined ? lostKeywords(schema, kinds) : [];
    if (notes.length > 0) this.isLoose = true;
    const noted = notes.length > 0 ? withNotes(description, notes) : description;
    const own = {
      ...(typeof title === "string" && { title }),
      ...(typeof noted === "string" && { description: noted }),
      ...(byDefault !== undefined && byDefault !== null && { default: byDefault }),
      ...((types.includes("null") || schema.nullable === true) && { nullable: true }),
    };
    const choices = choicesOf(schema);
    if (choices !== undefined) return { ...this.#choice(choices, schema, depth), ...own };
    const [kind, ...others] = kinds;
    if (others.length > 0) {
      return { ...own, anyOf: kinds.map((each) => this.#typed(each, schema, depth)) };
    }
    return { ...own, ...this.#typed(kind ?? "string", schema, depth) };
  }

  /** Writes alternatives; null becomes `nullable`. */
  #choice(choices: readonly unknown[], schema: JsonObject, depth: number): JsonObject {
    const {
      anyOf: _,
      oneOf: __,
      title: ___,
      description: ____,
      default: _____,
      ...shared
    } = schema;
    const flat = choices.map((choice) => this.#flat(choice, depth));
    const written = flat
      .filter((choice) => !isNull(choice.schema))
      .map((choice) => this.#written(joined(shared, choice.schema), choice.depth));
    const nullable = written.length < choices.length && { nullable: true };
    const [only] = written;
    return written.length === 1 && only
      ? { ...only, ...nullable }
      : { anyOf: written, ...nullable };
  }

  #typed(type: string, schema: JsonObject, depth: number): JsonObject {
    switch (type) {
      case "object":
        return { type: "OBJECT", ...this.#object(schema, depth) };
      case "array":
        return { type: "ARRAY", ...this.#array(schema, depth) };
      case "integer":
      case "number":
        return numeric(type, schema);
      case "boolean":
        return { type: "BOOLEAN" };
      default:
        return { type: "STRING", ...stringFields(schema) };
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
    const names = properties.map(([name]) => name);
    const required = Array.isArray(schema.required)
      ? schema.required.filter((name) => names.includes(name))
      : [];
    return {
      ...(names.length > 0 && {
        properties: Object.fromEntries(
          properties.map(([name, each]) => [name, this.write(each, depth)]),
        ),
      }),
      ...(required.length > 0 && { required }),
      ...counts(schema, ["minProperties", "maxProperties"]),
    };
  }

  /** A tuple becomes a list of any of its items. */
  #array(schema: JsonObject, depth: number): JsonObject {
    const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
    const items = Array.isArray(tuple) ? { anyOf: tuple } : schema.items;
    return { items: this.write(items, depth), ...counts(schema, ["minItems", "maxItems"]) };
  }

  /** Resolves a JSON pointer into the schema itself (RFC 6901). */
  #resolve(reference: string): unknown {
    const keys = reference.slice(1).split("/").slice(1);
    const isOther = !reference.startsWith("#") || (keys.length === 0 && reference !== "#");
    const target = isOther ? undefined : keys.reduce(member, this.#root);
    if (target === undefined)
      throw this.#refusal(`refers to the unknown definition "${reference}"`);
    return target;
  }

  #refusal(problem: string): LlmRefusal {
    const { what, field } = this.#place;
    const message = `${what} ${problem}, which the provider of this route does not support`;
    return new LlmRefusal({ kind: "unsupported", message, field });
  }
}

/** Returns the value of a part of a JSON pointer. */
function member(value: unknown, part: string): unknown {
  const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
  if (Array.isArray(value)) return value[Number(key)];
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

interface Flat {
  readonly schema: JsonObject;
  readonly depth: number;
}

/** Joins two schemas that must both match: merges properties and required names; for other fields, the second one wins. */
function joined(a: JsonObject, b: JsonObject): JsonObject {
  const properties = {
    ...(isJsonObject(a.properties) && a.properties),
    ...(isJsonObject(b.properties) && b.properties),
  };
  const required = [
    ...(Array.isArray(a.required) ? a.required : []),
    ...(Array.isArray(b.required) ? b.required : []),
  ];
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

/** Returns the types that a schema declares or implies. */
function typesOf({ type, properties, items, enum: values, const: only }: JsonObject): string[] {
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
  if (types.length > 0) return types;
  if (properties !== undefined) return ["object"];
  if (items !== undefined) return ["array"];
  const samples: readonly unknown[] = Array.isArray(values) ? values : [only];
  return [...new Set(samples.filter((value) => value !== undefined).map(typeOf))];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return typeof value === "bigint" ? "integer" : typeof value;
}

/**
 * Returns the alternatives of a schema, including numbers to choose from, because only strings may have a list of values.
 */
function choicesOf({ anyOf, oneOf, enum: values, const: only }: JsonObject) {
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices) && choices.length > 0) return choices;
  const wanted: readonly unknown[] = Array.isArray(values) ? values : [];
  const isMixed = wanted.length > 1 && wanted.some((value) => typeof value === "number");
  return isMixed && only === undefined ? wanted.map((value) => ({ const: value })) : undefined;
}

function isNull(schema: unknown): boolean {
  return isJsonObject(schema) && (schema.type === "null" || schema.const === null);
}

/** A single number can only be expressed by two equal bounds. */
function numeric(type: "integer" | "number", schema: JsonObject): JsonObject {
  const { format, const: only, enum: values } = schema;
  const [value] = Array.isArray(values) && values.length === 1 ? values : [only];
  const step = type === "integer" ? 1 : 0;
  const above = numberOf(schema.exclusiveMinimum);
  const below = numberOf(schema.exclusiveMaximum);
  const bounds = {
    minimum:
      numberOf(value) ??
      numberOf(schema.minimum) ??
      (above === undefined ? undefined : above + step),
    maximum:
      numberOf(value) ??
      numberOf(schema.maximum) ??
      (below === undefined ? undefined : below - step),
  };
  return {
    type: type.toUpperCase(),
    ...(typeof format === "string" && NUMERIC_FORMATS.has(format) && { format }),
    ...(bounds.minimum !== undefined && { minimum: bounds.minimum }),
    ...(bounds.maximum !== undefined && { maximum: bounds.maximum }),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function stringFields(schema: JsonObject): JsonObject {
  const { format, pattern, const: only, enum: values } = schema;
  const texts = (Array.isArray(values) ? values : [only]).filter(
    (each) => typeof each === "string",
  );
  return {
    // Other formats are refused.
    ...(format === "date-time" && { format }),
    ...(texts.length > 0 && { format: "enum", enum: texts }),
    ...(typeof pattern === "string" && { pattern }),
    ...counts(schema, ["minLength", "maxLength"]),
  };
}

/** Writes integers as strings, as JSON of protocol buffers does for 64 bits. */
function counts(schema: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = schema[name];
      return typeof value === "number" ? [[name, String(value)]] : [];
    }),
  );
}
