import {
  type Definitions,
  isObject,
  type JsonValue,
} from "../harness/provider-schemas/json-schema.ts";

/** A field of a request that may be left out, in a request that is as small as its schema allows. */
export interface SchemaField {
  /** `messages[].content[].cache_control`. */
  readonly path: string;
  readonly withField: JsonValue;
  readonly without: JsonValue;
}

/** How deep fields are looked for: `messages[].content[].source.content[].text` is one of the deepest. */
const maxDepth = 12;

/** Every optional field of a definition, in each of the shapes that it may have. */
export function fieldsOfSchema(definitions: Definitions, name: string): readonly SchemaField[] {
  return fieldsOf(definitions, name, false);
}

/** Every field of a definition with a value of its own, whether it is required or not: its parts are fields themselves. */
export function allFieldsOfSchema(definitions: Definitions, name: string): readonly SchemaField[] {
  return fieldsOf(definitions, name, true);
}

function fieldsOf(
  definitions: Definitions,
  name: string,
  withRequired: boolean,
): readonly SchemaField[] {
  const walk = new SchemaWalk(definitions, withRequired);
  walk.visit({ $ref: `#/$defs/${name}` }, { path: "", place: (value) => value, above: [] });
  return walk.fields;
}

interface Place {
  readonly path: string;
  /** The request with a value at the place. */
  readonly place: (value: JsonValue) => JsonValue;
  /** The definitions around: one that holds itself is not followed. */
  readonly above: readonly string[];
}

class SchemaWalk {
  readonly fields: SchemaField[] = [];
  readonly #definitions: Definitions;
  readonly #withRequired: boolean;

  constructor(definitions: Definitions, withRequired: boolean) {
    this.#definitions = definitions;
    this.#withRequired = withRequired;
  }

  visit(schema: JsonValue, at: Place): void {
    if (!isObject(schema) || at.above.length > maxDepth) return;
    const name = nameOf(schema);
    if (name !== undefined) {
      if (at.above.includes(name)) return;
      this.visit(this.#definitions[name] ?? {}, { ...at, above: [...at.above, name] });
      return;
    }
    for (const branch of branchesOf(schema)) this.visit(branch, at);
    const { items } = schema;
    if (items !== undefined) {
      const place = (value: JsonValue) => at.place([value]);
      this.visit(items, { ...at, path: `${at.path}[]`, place });
    }
    const { properties } = this.#whole(schema);
    if (!isObject(properties)) return;
    const smallest = this.#smallest(schema);
    if (!isObject(smallest)) return;
    for (const [key, property] of Object.entries(properties)) {
      const path = at.path === "" ? key : `${at.path}.${key}`;
      const place = (value: JsonValue) => at.place({ ...smallest, [key]: value });
      const isSkipped = this.#withRequired && this.#isFixed(property);
      const values = isSkipped ? [] : this.#values(property);
      const { [key]: own, ...others } = smallest;
      const isTried = own === undefined || this.#withRequired;
      for (const value of isTried ? values : []) {
        if (this.#withRequired && hasParts(value)) continue;
        this.fields.push({ path, withField: place(value), without: at.place(others) });
      }
      this.visit(property, { ...at, path, place });
    }
  }

  /** Whether a schema allows one value only. */
  #isFixed(schema: JsonValue): boolean {
    const found = this.#resolved(schema);
    return found.const !== undefined || (Array.isArray(found.enum) && found.enum.length === 1);
  }

  /** With what all of its parts say. */
  #whole(schema: Definitions): Definitions {
    const parts = schema.allOf;
    if (!Array.isArray(parts)) return schema;
    const all = parts.map((part) => this.#whole(this.#resolved(part)));
    const properties = Object.assign(
      {},
      ...all.map((part) => part.properties ?? {}),
      schema.properties ?? {},
    );
    const required = [...all, schema].flatMap((part) =>
      Array.isArray(part.required) ? part.required : [],
    );
    return { ...schema, properties, required };
  }

  #resolved(schema: JsonValue): Definitions {
    if (!isObject(schema)) return {};
    const name = nameOf(schema);
    return name === undefined ? schema : this.#resolved(this.#definitions[name] ?? {});
  }

  /** Returns values of each shape that a schema allows, except `null`. */
  #values(schema: JsonValue): readonly JsonValue[] {
    const found = this.#whole(this.#resolved(schema));
    const branches = branchesOf(found);
    if (branches.length > 0) return branches.flatMap((branch) => this.#values(branch));
    if (Array.isArray(found.enum)) return found.enum.filter((value) => value !== null);
    if (found.type === "boolean") return [true, false];
    const isFree = found.type === "object" && found.properties === undefined;
    if (this.#withRequired && isFree) return [{ abc: "abc" }];
    const value = this.#smallest(found);
    return value === null || value === undefined ? [] : [value];
  }

  #smallest(schema: JsonValue): JsonValue {
    const found = this.#whole(this.#resolved(schema));
    const [branch] = branchesOf(found);
    if (branch !== undefined) return this.#smallest(branch);
    if (found.const !== undefined) return found.const;
    if (Array.isArray(found.enum)) return found.enum[0] ?? null;
    const type = Array.isArray(found.type)
      ? found.type.find((each) => each !== "null")
      : found.type;
    switch (isObject(found.properties) ? "object" : type) {
      case "string":
        return "abc";
      case "boolean":
        return true;
      case "integer":
      case "number":
        return typeof found.minimum === "number" ? Math.max(found.minimum, 2) : 2;
      case "array":
        return found.items === undefined ? [] : [this.#smallest(found.items)];
      case "object": {
        const required = Array.isArray(found.required) ? found.required : [];
        const properties = isObject(found.properties) ? found.properties : {};
        return Object.fromEntries(
          required.map((key) => [key, this.#smallest(properties[String(key)] ?? {})]),
        );
      }
      default:
        return type === "null" ? null : {};
    }
  }
}

/** Whether a value is an object with named fields, or a list of such. An object of any fields has one, `abc`. */
function hasParts(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every(hasParts);
  return isObject(value) && value.abc === undefined;
}

function nameOf({ $ref }: Definitions): string | undefined {
  return typeof $ref === "string" ? $ref.replace("#/$defs/", "") : undefined;
}

function branchesOf({ anyOf, oneOf }: Definitions): readonly JsonValue[] {
  return [anyOf, oneOf].flatMap((each) => (Array.isArray(each) ? each : []));
}
