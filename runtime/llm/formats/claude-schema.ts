import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import type { FittedSchema, RequestedSchema } from "../chat/fitted-schema.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import { schemaViolation } from "../chat/schema-violation.ts";
import { noteOf, withNotes } from "./schema-notes.ts";

/** Keywords that Claude's grammar knows (Anthropic: Structured outputs, JSON Schema limitations). */
const KEPT = new Set([
  ...["type", "enum", "const", "default", "title", "description", "pattern", "required", "$ref"],
]);

/** Keywords whose values are lists of schemas, and what Claude calls them. */
const UNIONS: Readonly<Record<string, string>> = { anyOf: "anyOf", oneOf: "anyOf", allOf: "allOf" };

/** Keywords whose values are schemas by name. */
const NAMED = new Set(["properties", "$defs", "definitions"]);

const FORMATS = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
]);

/**
 * Converts a schema to the subset that Claude enforces: objects are closed, and keywords that it lacks move into descriptions.
 * Throws LlmRefusal if the schema is recursive, or has objects with any keys.
 */
export function fitClaudeSchema({ schema, isStrict, field }: RequestedSchema): FittedSchema {
  const writer = new SchemaWriter(schema, field);
  const written = { schema: writer.written(schema), isStrict };
  if (!writer.isLoose) return written;
  return { ...written, check: (value) => schemaViolation(value, schema) };
}

class SchemaWriter {
  readonly #field: string;
  /** Whether keywords have moved into descriptions. */
  isLoose = false;

  constructor(root: unknown, field: string) {
    this.#field = field;
    if (isRecursive(root)) throw this.#refusal("is recursive");
  }

  written(schema: unknown): unknown {
    if (!isJsonObject(schema)) return {};
    const result: Record<string, unknown> = {};
    const notes: string[] = [];
    for (const [key, value] of Object.entries(schema)) {
      const union = UNIONS[key];
      if (KEPT.has(key)) result[key] = value;
      else if (union !== undefined && Array.isArray(value)) {
        result[union] = value.map((each) => this.written(each));
      } else if (NAMED.has(key) && isJsonObject(value)) {
        result[key] = Object.fromEntries(
          Object.entries(value).map(([name, each]) => [name, this.written(each)]),
        );
      } else if (key === "items" && isJsonObject(value)) result.items = this.written(value);
      else if (isKept(key, value)) result[key] = value;
      else if (key === "additionalProperties") this.#checkKeys(value);
      else notes.push(...noteOf(key, value));
    }
    if (isObject(schema)) result.additionalProperties = false;
    if (notes.length > 0) {
      this.isLoose = true;
      result.description = withNotes(schema.description, notes);
    }
    return result;
  }

  /** Objects are closed, which leaves nothing of an object with any keys. */
  #checkKeys(additional: unknown): void {
    if (isJsonObject(additional) && Object.keys(additional).length > 0) {
      throw this.#refusal("has an object with any keys (additionalProperties)");
    }
  }

  #refusal(problem: string): LlmRefusal {
    const message = `the schema ${problem}, which Claude cannot enforce`;
    return new LlmRefusal({ kind: "unsupported", message, field: this.#field });
  }
}

function isKept(key: string, value: unknown): boolean {
  if (key === "format") return FORMATS.has(String(value));
  return key === "minItems" && (value === 0 || value === 1);
}

function isObject({ type, properties }: JsonObject): boolean {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.includes("object") || properties !== undefined;
}

/** Whether a schema refers to itself. Each definition is visited once, however often it is referred to. */
function isRecursive(root: unknown): boolean {
  const open = new Set(["#"]);
  const done = new Set<string>();
  const visit = (schema: unknown): boolean => {
    if (Array.isArray(schema)) return schema.some(visit);
    if (!isJsonObject(schema)) return false;
    const { $ref: ref } = schema;
    if (typeof ref === "string" && !done.has(ref)) {
      if (open.has(ref)) return true;
      open.add(ref);
      if (visit(definition(root, ref))) return true;
      open.delete(ref);
      done.add(ref);
    }
    return Object.entries(schema).some(
      ([key, value]) => key !== "$defs" && key !== "definitions" && visit(value),
    );
  };
  return visit(root);
}

/** Returns the definition that a reference names: `#/$defs/item`; `undefined` if there is none. */
function definition(root: unknown, ref: string): unknown {
  let found = root;
  for (const step of ref.replace(/^#\//, "").split("/")) {
    found = isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}
