import type { DataPath } from "../data/data-path.ts";
import { dataAt, dataWith, type RequestData, withValue } from "../data/request-data.ts";
import type { Path } from "../diagram/diagrams.ts";
import type { RuleModel } from "../model/rule-model.ts";
import type { OpaqueVariable, ValueVariable } from "../model/variable.ts";

/** Maximum number of requests to try for conditions that classes of values do not capture. */
const ATTEMPTS = 600;

/** Steps for trying a request, per condition of the rules. */
const STEPS_TO_TRY = 10;

/**
 * Searches for a request on a path for which `holds` is true. Conditions over several values are not solved; instead, values
 * from the constants in the rules are tried. `undefined` if no request was found.
 */
export function searchWitness(
  model: RuleModel,
  path: Path,
  holds: (data: RequestData) => boolean,
): RequestData | undefined {
  const first = witnessOn(model, path);
  if (first === undefined) return undefined;
  if (holds(first)) return first;
  const opaque = [...path.keys()]
    .map((level) => model.variables[level])
    .filter((variable) => variable?.kind === "opaque");
  if (opaque.length === 0) return undefined;
  const reads = opaque.flatMap((variable) => variable.reads);
  const found = reads.map((read) => dataAt(read, first));
  const pool = valuesFor(model, opaque, found);
  let state = 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % limit;
  };
  const pick = (): unknown => pool[below(pool.length)];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    model.work.spend(STEPS_TO_TRY * (1 + model.leaves.length));
    const shared = pick();
    const data = reads.reduce<RequestData>((made, read, index) => {
      const own = found[index];
      // The value on the path is unchanged, or a list gets more elements, so that the path's conditions still hold.
      const choices = [own, Array.isArray(own) ? withMore(own, pick()) : shared, shared, pick()];
      const value = choices[below(choices.length)];
      return withValue(made, read, read[0] === "request" ? requestText(read, value) : value);
    }, first);
    if (holds(data)) return data;
  }
  return undefined;
}

/** Adds an element at the start of a list, or several at its end. */
function withMore(list: readonly unknown[], value: unknown): readonly unknown[] {
  return Array.isArray(value) ? [...list, ...value] : [value, ...list];
}

/** Lists values to try: constants of the conditions, values near them, present values, and examples of classes. */
function valuesFor(
  model: RuleModel,
  opaque: readonly OpaqueVariable[],
  found: readonly unknown[],
): readonly unknown[] {
  const texts = opaque.map(({ text }) => text).join(" ");
  const strings = [...texts.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inner = ""]) => inner);
  const numbers = [...texts.matchAll(/\b\d+(?:\.\d+)?\b/g)].map(([text]) => Number(text));
  const examples = model.variables.flatMap((variable) =>
    variable.kind === "value"
      ? variable.classes.flatMap(({ example }) => (typeof example === "string" ? example : []))
      : [],
  );
  const near = [...numbers, 0].flatMap((each) => [each, each + 1, each - 1]);
  const present = found.filter((each) => typeof each === "string");
  const joined = strings.flatMap((each) =>
    ["other", ...strings, ...present].map((other) => `${each}${other}`),
  );
  const scalars = [...strings, "other", ...present, ...examples, ...joined, ...near];
  const lists = strings.flatMap((each) => [[each], [`${each}x`, `${each}y`]]);
  return [...scalars, ...lists, [...strings], true, undefined];
}

function requestText([, field]: DataPath, value: unknown): string {
  const text = typeof value === "string" ? value : "other";
  if (field !== "path") return text;
  return text.startsWith("/") ? text : `/${text}`;
}

/** Creates a request on a path of a diagram; `undefined` if no list meets the path's conditions. */
function witnessOn(model: RuleModel, path: Path): RequestData | undefined {
  const chosen = new Map([...path].map(([level, classes]) => [level, classes[0] ?? 0]));
  const values: (readonly [DataPath, unknown])[] = [];
  for (const [level, index] of chosen) {
    const variable = model.variables[level];
    if (variable?.kind !== "value") continue;
    const found = variable.classes[index];
    if (found?.leadsTo !== "elements") {
      values.push([variable.path, found?.example]);
      continue;
    }
    const list = listFor(model, variable, chosen);
    if (list === undefined) return undefined;
    values.push([variable.path, list]);
  }
  return dataWith(values.toSorted(([a], [b]) => a.length - b.length));
}

/** Creates a list with the required elements and size; `undefined` if that is impossible. */
function listFor(
  model: RuleModel,
  { path, elements, sizes = [] }: ValueVariable,
  chosen: ReadonlyMap<number, number>,
): readonly unknown[] | undefined {
  const list: unknown[] = [];
  const refused = new Set<number>();
  let cell: number | undefined;
  for (const [level, index] of chosen) {
    const variable = model.variables[level];
    if (variable?.kind === "value" || variable?.kind === "opaque" || variable === undefined)
      continue;
    if (variable.path.join("\u0001") !== path.join("\u0001")) continue;
    if (variable.kind === "size") cell = index;
    else if (index === 1) list.push(elements?.examples[variable.index]);
    else refused.add(variable.index);
  }
  if (cell === undefined) return list;
  const [size = 0, next = Number.POSITIVE_INFINITY] = sizes.slice(cell);
  if (list.length >= next) return undefined;
  const free = (elements?.examples ?? ["other"]).find((_, index) => !refused.has(index));
  const filler = list[0] ?? free;
  if (filler === undefined && size > list.length) return undefined;
  while (list.length < size) list.push(filler);
  return list;
}
