import type { JsonObject } from "../../../cel/variables.ts";
import { LlmRefusal } from "../../chat/llm-error.ts";
import { isJsonObject } from "../../chat/request-object.ts";

/** Which schema of a request is written, for messages to the client. */
export interface SchemaPlace {
  /** `the schema of tool "x"` */
  readonly what: string;
  readonly field: string;
}

/**
 * Writes a JSON schema as generateContent has it: the subset of OpenAPI 3.0 that its `Schema` is. References are put in,
 * `allOf` and `const` are said otherwise, what it has no word for is left out. Throws LlmRefusal for a schema that refers to
 * itself, or that is too large with its references put in.
 */
export function writeSchema(schema: unknown, place: SchemaPlace): JsonObject {
  return new SchemaWriter(schema, place).write(schema, 0);
}

/** More than any schema needs: references to references grow without bound. */
const MAX_SCHEMAS = 5000;

/** References within references: of those that end, nobody writes more. */
const MAX_DEPTH = 32;

class SchemaWriter {
  readonly #root: unknown;
  readonly #place: SchemaPlace;
  #count = 0;

  constructor(root: unknown, place: SchemaPlace) {
    this.#root = root;
    this.#place = place;
  }

  /** `depth`: how many references this one stands in. */
  write(given: unknown, depth: number): JsonObject {
    const flat = this.#flat(given, depth);
    return this.#written(flat.schema, flat.depth);
  }

  /** What a schema says without references and `allOf`. `true` says nothing, like `{}`. */
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
    const own = {
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
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

  /** Of the alternatives, null is a word of its own. */
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

  /** A tuple is a list of any of its items. */
  #array(schema: JsonObject, depth: number): JsonObject {
    const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
    const items = Array.isArray(tuple) ? { anyOf: tuple } : schema.items;
    return { items: this.write(items, depth), ...counts(schema, ["minItems", "maxItems"]) };
  }

  /** A JSON pointer into the schema itself (RFC 6901). */
  #resolve(reference: string): unknown {
    const keys = reference.slice(1).split("/").slice(1);
    const isOther = !reference.startsWith("#") || (keys.length === 0 && reference !== "#");
    const target = isOther ? undefined : keys.reduce(member, this.#root);
    if (target === undefined) throw this.#refusal(`refers to "${reference}", which is not in it`);
    return target;
  }

  #refusal(problem: string): LlmRefusal {
    const { what, field } = this.#place;
    const message = `${what} ${problem}: the provider of this route cannot be told that`;
    return new LlmRefusal({ kind: "unsupported", message, field });
  }
}

/** The value that a part of a JSON pointer stands for. */
function member(value: unknown, part: string): unknown {
  const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
  if (Array.isArray(value)) return value[Number(key)];
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

interface Flat {
  readonly schema: JsonObject;
  readonly depth: number;
}

/** Two schemas that both hold: properties and required names add up, of other fields the second one's count. */
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

/** The types that a schema says, or that follow from what it says. */
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

/** The alternatives of a schema, numbers to choose from among them: only texts have a list of values. */
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

/** Two bounds are the only way to say one number. */
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

const NUMERIC_FORMATS: ReadonlySet<string> = new Set(["float", "double", "int32", "int64"]);

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function stringFields(schema: JsonObject): JsonObject {
  const { format, pattern, const: only, enum: values } = schema;
  const texts = (Array.isArray(values) ? values : [only]).filter(
    (each) => typeof each === "string",
  );
  return {
    // The others are refused.
    ...(format === "date-time" && { format }),
    ...(texts.length > 0 && { format: "enum", enum: texts }),
    ...(typeof pattern === "string" && { pattern }),
    ...counts(schema, ["minLength", "maxLength"]),
  };
}

/** Whole numbers are texts, as JSON of protocol buffers has those of 64 bits. */
function counts(schema: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = schema[name];
      return typeof value === "number" ? [[name, String(value)]] : [];
    }),
  );
}
