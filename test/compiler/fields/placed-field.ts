import type { Schema } from "../../../compiler/schema/schema.ts";
import { type KnownValues, knownOf, objectWith } from "./sample-values.ts";
import { partOf, type Step } from "./schema-walk.ts";

/** The configuration with a field set, and whatever the field needs around it; `undefined`: without the field. */
export function placed(
  whole: Schema,
  config: unknown,
  path: readonly Step[],
  value: unknown,
  known: KnownValues,
): unknown {
  return set(whole, config, [], path, value, known);
}

function set(
  schema: Schema,
  config: unknown,
  before: readonly Step[],
  [step, ...rest]: readonly Step[],
  value: unknown,
  known: KnownValues,
): unknown {
  if (step === undefined) return value;
  const part = partOf(schema, step);
  const at = [...before, step];
  if (step === "[]") {
    const list: unknown = config ?? knownOf(before, known)?.find(Array.isArray);
    const [first, ...others] = Array.isArray(list) ? list : [];
    const item = set(part, first, at, rest, value, known);
    return item === undefined ? others : [item, ...others];
  }
  const given = objectAround(schema, config, before, known, step);
  const key = step === "*" ? (Object.keys(given)[0] ?? "a") : step;
  const alternatives = [schema.exactlyOneOf, schema.atMostOneOf]
    .filter((each) => each?.includes(key) === true)
    .flatMap((each) => each ?? [])
    .filter((each) => each !== key);
  const inner = set(part, given[key], at, rest, value, known);
  // The first key of a map stays the first.
  const entries = Object.entries({ ...given, [key]: inner });
  return Object.fromEntries(
    entries.filter(([name, each]) => each !== undefined && !alternatives.includes(name)),
  );
}

/** Surroundings of a field: the existing ones, a known valid object, or the minimum that the schema requires. */
function objectAround(
  schema: Schema,
  config: unknown,
  path: readonly Step[],
  known: KnownValues,
  key: string,
): Readonly<Record<string, unknown>> {
  const objects = (knownOf(path, known) ?? []).filter(isRecord);
  if (isRecord(config) && Object.hasOwn(config, key)) return config;
  const fitting = objects.find((each) => Object.hasOwn(each, key));
  if (fitting !== undefined) return fitting;
  return isRecord(config) ? config : (objects[0] ?? objectWith(schema, path, known, key));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
