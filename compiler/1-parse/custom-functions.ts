import {
  type CustomFunctions,
  inlineFunctions,
  readCustomFunctions,
  uncalledFunctions,
} from "../cel/custom-functions.ts";
import { addProblems } from "../cel/parse/problems.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  type Origin,
  placeKey,
} from "../diagnostics/diagnostic.ts";
import type { InlinedPlaces } from "../diagnostics/inlined-places.ts";
import {
  type ConfigValue,
  configValueAt,
  isMapping,
  type ReadValue,
} from "../schema/config-values.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";

const NAME = "customFunctions";
const PATH = ["config", NAME] as const;

/** Replaces calls of `config.customFunctions` in all expressions of a file with the bodies of the functions. */
export function withCustomFunctions(
  read: ReadValue,
  schema: Schema,
  origin: Origin,
  diagnostics: Diagnostics,
): { readonly read: ReadValue; readonly inlined?: InlinedPlaces } {
  const definitions = childOf(origin, ...pathOf(read.value));
  const functions = readDefinitions(read, origin, diagnostics);
  if (functions === undefined) return { read };
  const keys = new Set<string>();
  const called = new Set<string>();
  const expression = (text: string, path: ConfigPath): string => {
    const inlined = inlineFunctions(text, functions);
    const at = childOf(origin, ...path);
    for (const { problem, within } of inlined.problems)
      diagnostics.report("bad-function-call", { ...at, within }, { problem });
    for (const name of inlined.called) called.add(name);
    if (inlined.text !== text) keys.add(placeKey(at));
    return inlined.text;
  };
  const value = mapExpressions(read.value, schema, expression);
  for (const { name, nameSpan: within } of uncalledFunctions(functions, called))
    diagnostics.report("uncalled-function", { ...definitions, within }, { name });
  return { read: { ...read, value }, inlined: { keys, definitions } };
}

/** Reads `config.customFunctions` of a file, and reports mistakes in it; returns `undefined` if it has none. */
export function readDefinitions(
  read: ReadValue,
  origin: Origin,
  diagnostics: Diagnostics,
): CustomFunctions | undefined {
  const path = pathOf(read.value);
  const written = configValueAt(read.value, path);
  if (typeof written !== "string") return undefined;
  const definitions = childOf(origin, ...path);
  const { functions, problems, expressionProblems } = readCustomFunctions(written);
  // Values of the environment would become part of expressions.
  if (read.expanded.some((each) => each.path.join() === path.join()))
    diagnostics.report("bad-function", definitions, { problem: "it has an environment variable" });
  for (const { problem, within } of problems)
    diagnostics.report("bad-function", { ...definitions, within }, { problem });
  addProblems(expressionProblems, definitions, diagnostics);
  return functions;
}

/**
 * Returns where the functions of a file are. A misplaced field counts too: that is a mistake of its own, and its calls are no
 * further ones.
 */
function pathOf(file: ConfigValue): ConfigPath {
  const sections = [...keysOf(file), ...keysOf(configValueAt(file, ["config"]))];
  const places = sections.flatMap((key) => [
    [key, NAME],
    ["config", key, NAME],
  ]);
  const isThere = (path: ConfigPath) => typeof configValueAt(file, path) === "string";
  return [PATH, [NAME], ...places].find(isThere) ?? PATH;
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

function mapExpressions(
  value: ConfigValue,
  schema: Schema,
  change: (text: string, path: ConfigPath) => string,
  path: ConfigPath = [],
): ConfigValue {
  if (typeof value === "string")
    return schemaAt(schema, path)?.expression === true ? change(value, path) : value;
  if (Array.isArray(value))
    return value.map((item, index) => mapExpressions(item, schema, change, [...path, index]));
  if (!isMapping(value)) return value;
  const record: Record<string, ConfigValue> = Object.create(null);
  for (const [key, item] of Object.entries(value))
    record[key] = mapExpressions(item, schema, change, [...path, key]);
  return record;
}
