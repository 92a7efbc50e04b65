import type { Origin } from "../diagnostics/diagnostic.ts";

/**
 * Replaces the texts of all expressions in a configuration: strings named `text` or `expression` next to an `origin`. Returns
 * the value itself if none changes.
 */
export function mapExpressions<Value>(
  value: Value,
  change: (text: string, origin: Origin) => string,
  known: Map<unknown, unknown> = new Map(),
): Value {
  if (typeof value !== "object" || value === null) return value;
  if (!known.has(value)) {
    // A part that contains itself keeps its texts.
    known.set(value, value);
    known.set(value, mappedObject(value, change, known));
  }
  // It has the same type: only texts differ.
  return known.get(value) as Value;
}

function mappedObject(
  value: object,
  change: (text: string, origin: Origin) => string,
  known: Map<unknown, unknown>,
): object {
  const map = (each: unknown) => mapExpressions(each, change, known);
  if (Array.isArray(value)) {
    const items = value.map(map);
    return items.every((each, index) => each === value[index]) ? value : items;
  }
  if (value instanceof Map) {
    const entries = [...value].map(([key, each]) => [key, map(each)] as const);
    return entries.every(([key, each]) => each === value.get(key)) ? value : new Map(entries);
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const { origin } = fields;
  const isText = (name: string, each: unknown): each is string =>
    (name === "text" || name === "expression") && typeof each === "string";
  const entries = Object.entries(fields).map(([name, each]) => [
    name,
    isOrigin(origin) && isText(name, each) ? change(each, origin) : map(each),
  ]);
  return entries.every(([name, each]) => each === fields[String(name)])
    ? value
    : Object.fromEntries(entries);
}

function isOrigin(value: unknown): value is Origin {
  return typeof value === "object" && value !== null && "file" in value && "path" in value;
}
