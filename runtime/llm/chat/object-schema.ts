import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";

/** Schema of tools without parameters. */
export const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/**
 * Returns the schema of a tool's input as one that says it is an object: providers require that, and refuse alternatives and
 * references instead. Alternatives become properties of one object, and its description tells which belong together.
 */
export function objectSchema(schema: unknown): JsonObject {
  if (!isJsonObject(schema) || Object.keys(schema).length === 0) return NO_PARAMETERS;
  if (schema.type === "object" && PARTS.every((key) => schema[key] === undefined)) return schema;
  const merged = flat(schema, schema, 0);
  const isObject = [merged.type].flat().some((type) => type === undefined || type === "object");
  if (!isObject) return schema;
  return { ...merged, type: "object", properties: merged.properties ?? {} };
}

const PARTS = ["anyOf", "oneOf", "allOf", "$ref"] as const;

/** Maximum depth of alternatives and references; deeper ones are omitted. */
const MAX_DEPTH = 16;

function flat(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const { anyOf, oneOf, allOf, $ref, ...own } = schema;
  if (depth === MAX_DEPTH) return own;
  const flatList = (list: unknown) =>
    (Array.isArray(list) ? list : [])
      .filter(isJsonObject)
      .map((each) => flat(each, root, depth + 1))
      .filter(({ type }) => type !== "null");
  const target = typeof $ref === "string" ? definition(root, $ref) : undefined;
  const all = [...(target ? [flat(target, root, depth + 1)] : []), ...flatList(allOf)];
  const unions = [flatList(anyOf), flatList(oneOf)].filter(({ length }) => length > 0);
  const parts = [...all, ...unions.flat()];
  if (parts.length === 0) return own;
  const properties = Object.assign({}, ...parts.map(propertiesOf), propertiesOf(own));
  const required = new Set([...requiredOf(own), ...all.flatMap(requiredOf)]);
  for (const union of unions) for (const name of shared(union)) required.add(name);
  const description = [own.description, ...unions.map(alternatives)].filter(Boolean).join("\n");
  return {
    ...Object.assign({}, ...all.map(({ $defs: _, ...part }) => part)),
    ...own,
    properties,
    ...(required.size > 0 && { required: [...required] }),
    ...(description !== "" && { description }),
  };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Returns the properties that all alternatives require. */
function shared(union: readonly JsonObject[]): readonly string[] {
  const [first, ...others] = union.map(requiredOf);
  return (first ?? []).filter((name) => others.every((each) => each.includes(name)));
}

function alternatives(union: readonly JsonObject[]): string {
  const lists = union.map((each) => Object.keys(propertiesOf(each)).join(", "));
  return union.length < 2
    ? ""
    : `Properties of one of: ${lists.map((list) => `(${list})`).join(" or ")}`;
}

/** Returns the object that a reference names: `#/$defs/item`; `undefined` if there is none. */
function definition(root: JsonObject, ref: string): JsonObject | undefined {
  let found: unknown = root;
  for (const step of ref.replace(/^#\//, "").split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isJsonObject(found) ? found : undefined;
}
