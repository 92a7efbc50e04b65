/** A JSON schema, or a part of one. */
type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/** Minimum length of a shared shape in characters: a reference has a cost too. */
const WORTH_SHARING = 500;

/**
 * Moves shapes of properties that occur in several places to `$defs`. Connection settings, for example, are the same
 * everywhere, and editors are slow with a schema that repeats them.
 */
export function withSharedParts(schema: JsonObject): JsonObject {
  const counts = new Map<string, number>();
  countShapes(schema, counts);
  const names = new Map<string, string>();
  const definitions: Record<string, Json> = {};
  const members = (object: JsonObject): JsonObject =>
    mapEntries(object, (part, key) =>
      key === "properties" && isObject(part) ? mapEntries(part, shape) : share(part),
    );
  const share = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(share);
    return isObject(value) ? members(value) : value;
  };
  const shape = (value: Json, property: string): Json => {
    const text = JSON.stringify(value);
    if (text.length < WORTH_SHARING || counts.get(text) === 1) return share(value);
    const known = names.get(text);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const name = freeName(property, definitions);
    names.set(text, name);
    // Reserves the name before inner shapes need one.
    definitions[name] = {};
    definitions[name] = share(value);
    return { $ref: `#/$defs/${name}` };
  };
  return { ...members(schema), $defs: definitions };
}

/** Counts the occurrences of each shape of a property. */
function countShapes(value: Json, counts: Map<string, number>): void {
  if (Array.isArray(value)) for (const each of value) countShapes(each, counts);
  if (!isObject(value)) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === "properties" && isObject(part)) {
      for (const property of Object.values(part)) {
        const text = JSON.stringify(property);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
    }
    countShapes(part, counts);
  }
}

function freeName(property: string, definitions: JsonObject): string {
  let name = property;
  for (let count = 2; Object.hasOwn(definitions, name); count++) name = `${property}${count}`;
  return name;
}

function mapEntries(object: JsonObject, change: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
