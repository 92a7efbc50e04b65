import type { ConfigPath } from "../../../compiler/diagnostics/diagnostic.ts";
import { isWritable, type Schema, schemaAt } from "../../../compiler/schema/schema.ts";

/** A mistake that can be made in a configuration. */
export interface MadeMistake {
  /** Description with its place. */
  readonly title: string;
  /** Places that it changes: no other mistake of the same configuration may be inside them, or around them. */
  readonly touched: readonly ConfigPath[];
  /** Whether other mistakes can make it unknown: a reference, whose meaning depends on names elsewhere. */
  readonly isReference?: boolean;
  readonly makeIn: (config: unknown) => void;
}

const UNKNOWN = "zzzzzz";
const NOBODY = "nobody";

/** Whether two mistakes change different places, and none depends on the other. */
export function areApart(one: MadeMistake, other: MadeMistake): boolean {
  const isUnknownKey = ({ touched: [place] }: MadeMistake): boolean => place?.at(-1) === UNKNOWN;
  if (one.isReference === true && !isUnknownKey(other)) return false;
  if (other.isReference === true && !isUnknownKey(one)) return false;
  return !one.touched.some((first) =>
    other.touched.some((second) => isPrefix(first, second) || isPrefix(second, first)),
  );
}

/** Returns a copy of a configuration with mistakes. */
export function withMade(config: unknown, mistakes: readonly MadeMistake[]): unknown {
  const copy: unknown = structuredClone(config);
  for (const { makeIn } of mistakes) makeIn(copy);
  return copy;
}

/** Returns every mistake that one value, key or place of a configuration can have by its schema. */
export function possibleMistakes(
  schema: Schema,
  config: unknown,
  path: ConfigPath = [],
): readonly MadeMistake[] {
  const own = schemaAt(schema, path);
  if (own === undefined || !isWritable(own)) return [];
  const inner = isObject(config)
    ? Object.entries(config).flatMap(([key, value]) =>
        possibleMistakes(schema, value, [...path, Array.isArray(config) ? Number(key) : key]),
      )
    : [];
  const wrong =
    path.length === 0 ? [] : wrongValuesOf(own).map((value) => valueMistake(path, value));
  return [...wrong, ...keyMistakes(own, config, path), ...inner];
}

function wrongValuesOf(schema: Schema): readonly unknown[] {
  const { type = [], minimum = 0, maximum = Infinity, format, pattern } = schema;
  const types = [type].flat();
  const isForeign = schema.enum !== undefined || format !== undefined || pattern !== undefined;
  return [
    ...(types.length === 1 ? [types[0] === "array" ? { unknown: 1 } : [[]]] : []),
    ...(maximum < 1e15 ? [maximum + 1] : []),
    ...(minimum > 0 ? [minimum - 1] : []),
    ...(types.length === 1 && types[0] === "string" && isForeign ? ["{"] : []),
    ...(schema.expression === true ? ["request.path =="] : []),
    ...(schema.isPattern === true ? ["("] : []),
    ...(schema.refersTo !== undefined && types.length === 1 ? [NOBODY] : []),
  ];
}

function valueMistake(path: ConfigPath, value: unknown): MadeMistake {
  return {
    title: `${path.join(".")} is ${JSON.stringify(value)}`,
    touched: [path],
    isReference: value === NOBODY,
    makeIn: (config) => setAt(config, path, value),
  };
}

/** Unknown, missing and misplaced keys of an object. */
function keyMistakes(schema: Schema, config: unknown, path: ConfigPath): readonly MadeMistake[] {
  const { properties, required = [] } = schema;
  if (properties === undefined || !isObject(config) || Array.isArray(config)) return [];
  const own = path.join(".");
  const unknown: MadeMistake = {
    title: `${own} has the key ${UNKNOWN}`,
    touched: [[...path, UNKNOWN]],
    makeIn: (whole) => setAt(whole, [...path, UNKNOWN], 1),
  };
  const missing = required.map((key): MadeMistake => {
    return {
      title: `${own} lacks ${key}`,
      // An unknown key next to a missing one may be the missing one.
      touched: [
        [...path, key],
        [...path, UNKNOWN],
      ],
      makeIn: (whole) => setAt(whole, [...path, key], undefined),
    };
  });
  const sections = Object.entries(config).filter(
    ([key, value]) => isObject(value) && !Array.isArray(value) && properties[key]?.properties,
  );
  const inward = sections.flatMap(([section]) =>
    Object.keys(config)
      .filter((key) => key !== section && !hasKey(properties[section], key))
      .map((key) => moved(path, [...path, section], key)),
  );
  const outward = sections.flatMap(([section, value]) =>
    Object.keys(value as object)
      .filter((key) => !hasKey(schema, key))
      .map((key) => moved([...path, section], path, key)),
  );
  return [unknown, ...missing, ...inward, ...outward];
}

function hasKey(schema: Schema | undefined, key: string): boolean {
  return Object.hasOwn(schema?.properties ?? {}, key) || schema?.additionalProperties !== false;
}

/** A key that is written in another object than its own. */
function moved(from: ConfigPath, to: ConfigPath, key: string): MadeMistake {
  return {
    title: `${key} of ${from.join(".")} is in ${to.join(".")}`,
    touched: [
      [...from, key],
      [...to, key],
    ],
    makeIn: (config) => {
      const value = [...from, key].reduce<unknown>(
        (at, step) => (isObject(at) ? Reflect.get(at, step) : undefined),
        config,
      );
      setAt(config, [...from, key], undefined);
      setAt(config, [...to, key], value);
    },
  };
}

/** Sets a value in place, or removes its key. */
function setAt(config: unknown, path: ConfigPath, value: unknown): void {
  const owner = path
    .slice(0, -1)
    .reduce<unknown>((at, step) => (isObject(at) ? Reflect.get(at, step) : undefined), config);
  const last = path.at(-1);
  if (!isObject(owner) || last === undefined) return;
  if (value === undefined) Reflect.deleteProperty(owner, last);
  else Reflect.set(owner, last, structuredClone(value));
}

function isPrefix(path: ConfigPath, longer: ConfigPath): boolean {
  return path.every((step, index) => longer[index] === step);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
