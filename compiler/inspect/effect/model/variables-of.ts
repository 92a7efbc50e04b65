import type { CelPhase } from "../../../cel/compile.ts";
import { addressCells } from "../classes/address-cells.ts";
import { type ElementClasses, elementClasses } from "../classes/element-classes.ts";
import { numberCells, stringCells, stringDomain } from "../classes/scalar-classes.ts";
import { ClassCollector, type ValueClasses } from "../classes/value-class.ts";
import type { LeafCondition, OpaqueCondition, Truth } from "../conditions/condition.ts";
import { joinFeatures, NO_FEATURES } from "../conditions/leaf-features.ts";
import {
  type DataPath,
  isInArguments,
  JSON_BODY,
  kindOfPath,
  type PathKind,
  pathKey,
} from "../data/data-path.ts";
import { ITEM, ITEM_KINDS } from "../data/request-data.ts";
import type { Work } from "../work/work.ts";
import { rankOf, type ValueVariable, type Variable } from "./variable.ts";

/** Evaluates a condition on data with only one value. */
export type LeafRunner = (leaf: LeafCondition, path: DataPath, value: unknown) => Truth;

/** Returns the variables of conditions in the order of the diagrams' levels; `run` evaluates a condition on a value. */
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

/** Stands for the kind of the item, which MCP rules always distinguish. */
const ANY_ITEM: LeafCondition = {
  kind: "leaf",
  path: ITEM,
  text: "true",
  form: "value",
  features: NO_FEATURES,
};

/** Returns the variables of conditions, unordered. */
function variablesOf(
  leaves: readonly LeafCondition[],
  run: LeafRunner,
  work: Work,
): readonly Variable[] {
  const paths = new Map<string, DataPath>();
  for (const { path } of leaves) for (const step of stepsTo(path)) paths.set(pathKey(step), step);
  return [...paths.values()].flatMap((path) => variablesAt(path, leaves, run, work));
}

/** Returns the prefixes of a path that need a variable, the outermost first. */
export function stepsTo(path: DataPath): readonly DataPath[] {
  const [root] = path;
  if (isInArguments(path)) return [ITEM, ...path.slice(2).map((_, at) => path.slice(0, at + 3))];
  if (root === "mcp" && path[1] !== "methodName") return path.length > 2 ? [ITEM, path] : [ITEM];
  const isObject = root === JSON_BODY || (root !== undefined && kindOfPath([root]) === "root");
  return isObject ? path.map((_, index) => path.slice(0, index + 1)) : [path];
}

function variablesAt(
  path: DataPath,
  leaves: readonly LeafCondition[],
  run: LeafRunner,
  work: Work,
): readonly Variable[] {
  work.spend(4 * leaves.length * path.length);
  const isHere = (each: LeafCondition): boolean => pathKey(each.path) === pathKey(path);
  const here = leaves.filter(isHere);
  const below = leaves.filter(
    (each) => !isHere(each) && stepsTo(each.path).some((step) => pathKey(step) === pathKey(path)),
  );
  const features = joinFeatures(here.map((each) => each.features));
  const asked = here.filter(({ form }) => form !== "value");
  const hasSizes = kindOfPath(path) === "json" && features.sizes.size > 0;
  const elements =
    asked.length === 0
      ? undefined
      : elementClasses(
          joinFeatures(asked.flatMap((each) => each.features.elements ?? [])),
          asked.map((leaf) => ({
            text: leaf.text,
            form: leaf.form,
            on: (element) => run(leaf, path, [element]),
          })),
          work,
        );
  const starts = [...features.sizes].flatMap((size) => [size, size + 1]);
  const listSizes = hasSizes ? [...new Set([0, ...starts])].toSorted((a, b) => a - b) : undefined;
  const classes = classesAt(path, [...here, ...below], below.length > 0, run, {
    hasElements: elements !== undefined || hasSizes,
    work,
  });
  const value: ValueVariable = { kind: "value", path, ...classes, elements, sizes: listSizes };
  const sizes: readonly Variable[] =
    listSizes === undefined ? [] : [{ kind: "size", path, sizes: listSizes }];
  return [value, ...elementVariables(path, elements), ...sizes];
}

function elementVariables(
  path: DataPath,
  elements: ElementClasses | undefined,
): readonly Variable[] {
  return (elements?.examples ?? []).flatMap((_, index) =>
    elements?.neutral.has(index) === true ? [] : { kind: "element", path, index },
  );
}

interface ClassOptions {
  /** Whether lists are classified by their elements or sizes. */
  readonly hasElements: boolean;
  readonly work: Work;
}

function classesAt(
  path: DataPath,
  leaves: readonly LeafCondition[],
  isOwner: boolean,
  run: LeafRunner,
  { hasElements, work }: ClassOptions,
): ValueClasses {
  const collector = new ClassCollector((example) =>
    leaves.map((leaf) => run(leaf, path, example)).join(),
  );
  const { classes } = collector;
  const { strings, numbers, networks } = joinFeatures(
    leaves.filter((leaf) => pathKey(leaf.path) === pathKey(path)).map((leaf) => leaf.features),
  );
  const add = (example: unknown): number => collector.add(example);
  const texts = () => stringCells([...strings.values()], stringDomain(path), add, work);
  const kind: PathKind = kindOfPath(path) ?? "json";
  switch (kind) {
    case "item": {
      for (const each of ITEM_KINDS) classes.push({ example: each, leadsTo: "fields" });
      return {
        classes,
        isComplete: true,
        classOf: (value) => ITEM_KINDS.map(String).indexOf(String(value)),
      };
    }
    case "root": {
      classes.push({ example: null, leadsTo: "nothing" });
      const example = path[0] === "basicAuth" ? { username: "other" } : {};
      classes.push({ example, leadsTo: isOwner ? "fields" : "nothing" });
      return { classes, isComplete: true, classOf: (value) => ((value ?? null) === null ? 0 : 1) };
    }
    case "string": {
      const { classOf, isComplete } = texts();
      return { classes, isComplete, classOf: (value) => classOf(String(value)) };
    }
    case "optional-string": {
      const absent = add(undefined);
      const { classOf, isComplete } = texts();
      return {
        classes,
        isComplete,
        classOf: (value) => (value === undefined ? absent : classOf(String(value))),
      };
    }
    case "int": {
      const { classOf } = numberCells(numbers, add);
      return { classes, isComplete: true, classOf: (value) => classOf(Number(value)) };
    }
    case "address": {
      const addresses = [...strings.values()].map(({ text }) => text).filter(isAddress);
      const { classOf } = addressCells(networks, addresses, add, work);
      return { classes, isComplete: true, classOf: (value) => classOf(String(value)) };
    }
    case "json": {
      const absent = add(undefined);
      const string = texts();
      const number = numberCells(numbers, add);
      const others = new Map([null, true, false].map((value) => [value, add(value)]));
      const list = collector.add([], hasElements ? "elements" : "nothing");
      const map = isOwner
        ? collector.add({}, "fields")
        : collector.add({}, hasElements ? "elements" : "nothing");
      const classOf = (value: unknown): number => {
        if (value === undefined) return absent;
        if (typeof value === "string") return string.classOf(value);
        if (typeof value === "number") return number.classOf(value);
        if (value === null || typeof value === "boolean") return others.get(value) ?? -1;
        return Array.isArray(value) ? list : map;
      };
      return { classes, isComplete: string.isComplete, classOf };
    }
  }
}

/** Whether a string is in the canonical form of addresses. */
function isAddress(text: string): boolean {
  return /^\d+(?:\.\d+){3}$|^[0-9a-f]*:[0-9a-f:]*$/.test(text);
}
