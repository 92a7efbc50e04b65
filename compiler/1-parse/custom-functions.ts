import {
  type CustomFunctions,
  inlineFunctions,
  readCustomFunctions,
} from "../cel/custom-functions.ts";
import { addProblems } from "../cel/parse/problems.ts";
import {
  type ConfigPath,
  childOf,
  type Diagnostic,
  type Diagnostics,
  type Origin,
  placeKey,
} from "../diagnostics/diagnostic.ts";
import {
  type ConfigValue,
  configValueAt,
  isMapping,
  type ReadValue,
} from "../schema/config-values.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";

const PATH = ["config", "customFunctions"] as const;

/** Places of expressions that called functions of the file. */
export interface InlinedPlaces {
  readonly keys: ReadonlySet<string>;
  readonly definitions: Origin;
}

/** Replaces calls of `config.customFunctions` in all expressions of a file with the bodies of the functions. */
export function withCustomFunctions(
  read: ReadValue,
  schema: Schema,
  origin: Origin,
  diagnostics: Diagnostics,
): { readonly read: ReadValue; readonly inlined?: InlinedPlaces } {
  const written = configValueAt(read.value, PATH);
  if (typeof written !== "string") return { read };
  const definitions = childOf(origin, ...PATH);
  const { functions, problems, expressionProblems } = readCustomFunctions(written);
  // Values of the environment would become part of expressions.
  if (read.expanded.some(({ path }) => path.join() === PATH.join()))
    diagnostics.report("bad-function", definitions, { problem: "it has an environment variable" });
  for (const { problem, within } of problems)
    diagnostics.report("bad-function", { ...definitions, within }, { problem });
  addProblems(expressionProblems, definitions, diagnostics);
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
  reportUncalled(functions, called, definitions, diagnostics);
  return { read: { ...read, value }, inlined: { keys, definitions } };
}

/** Points at whole expressions where offsets are those of bodies of functions, and at the definitions. */
export function withoutInlinedOffsets(
  found: readonly Diagnostic[],
  inlined: InlinedPlaces | undefined,
): readonly Diagnostic[] {
  if (inlined === undefined || inlined.keys.size === 0) return found;
  return found.map((each) => {
    const { within, ...at } = each.at;
    if (within === undefined || each.code === "bad-function-call") return each;
    if (!inlined.keys.has(placeKey(each.at))) return each;
    const definitions = { at: inlined.definitions, label: "its functions are defined here" };
    return { ...each, at, related: [...(each.related ?? []), definitions] };
  });
}

function reportUncalled(
  functions: CustomFunctions,
  called: ReadonlySet<string>,
  definitions: Origin,
  diagnostics: Diagnostics,
): void {
  const inside = new Set(called);
  for (const { body } of functions.values())
    for (const name of inlineFunctions(body, functions).called) inside.add(name);
  for (const { name, nameSpan: within } of functions.values())
    if (!inside.has(name))
      diagnostics.report("uncalled-function", { ...definitions, within }, { name });
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
