import type { CelPhase } from "../../../cel/compile.ts";
import type { LeafCondition, OpaqueCondition } from "../conditions/condition.ts";
import { NO_FEATURES } from "../conditions/leaf-features.ts";
import { pathKey } from "../data/data-path.ts";
import { ITEM } from "../data/request-data.ts";
import type { Work } from "../work/work.ts";
import { rankOf, type Variable } from "./variable.ts";
import { type LeafRunner, stepsTo, variablesOf } from "./variables-of.ts";

/** The variables of conditions in the order in which diagrams ask for them; `run` tells what a condition is on a value. */
export function orderedVariables(
  phase: CelPhase,
  leaves: readonly (LeafCondition | OpaqueCondition)[],
  run: LeafRunner,
  work: Work,
): readonly Variable[] {
  const classed = leaves.filter((each) => each.kind === "leaf");
  const values = variablesOf(classed, run, work);
  const hasItem = values.some((each) => "path" in each && pathKey(each.path) === pathKey(ITEM));
  const item = phase === "mcp" && !hasItem ? variablesOf([ANY_ITEM], run, work) : [];
  const opaque = leaves.flatMap((each): readonly Variable[] =>
    each.kind === "opaque" ? [{ kind: "opaque", text: each.text, reads: each.reads }] : [],
  );
  const firstUse = new Map<string, number>();
  classed.forEach(({ path }, index) => {
    for (const step of stepsTo(path))
      if (!firstUse.has(pathKey(step))) firstUse.set(pathKey(step), index);
  });
  const useOf = (each: Variable): number =>
    "path" in each ? (firstUse.get(pathKey(each.path)) ?? 0) : 0;
  const depthOf = (each: Variable): number => ("path" in each ? each.path.length : 0);
  return [...values, ...item, ...opaque].toSorted(
    (a, b) => rankOf(a) - rankOf(b) || useOf(a) - useOf(b) || depthOf(a) - depthOf(b),
  );
}

/** Rules over items tell their kinds apart, whether they ask for them or not. */
const ANY_ITEM: LeafCondition = {
  kind: "leaf",
  path: ITEM,
  text: "true",
  form: "value",
  features: NO_FEATURES,
};
