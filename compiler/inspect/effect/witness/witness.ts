import type { DataPath } from "../data/data-path.ts";
import { dataWith, type RequestData } from "../data/request-data.ts";
import type { Path } from "../diagram/diagrams.ts";
import type { RuleModel } from "../model/rule-model.ts";
import type { ValueVariable } from "../model/variable.ts";

/** Creates a request on a path of a diagram; `undefined` if no list meets the path's conditions. */
export function witnessOn(model: RuleModel, path: Path): RequestData | undefined {
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
