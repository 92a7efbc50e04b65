import type { Expression, LocalName } from "../../../templates/code/hole.ts";
import { arrow, local, nodesOf, value } from "../../../templates/code/syntax.ts";
import { childrenOf, type MacroNode, type Node } from "../parse/ast.ts";
import { type EmittedValue, simple } from "./emitted-value.ts";
import type { Emitter } from "./emitter.ts";

/** Emits a macro as a value. */
export function emitMacro(emitter: Emitter, node: MacroNode): EmittedValue {
  const range = rangeCode(emitter, node, emitter.boxed(node.range));
  const bodies = node.bodies.map((body) =>
    bodyOf(emitter, node, range, (each) => each.boxed(body)),
  );
  const [first, second] = bodies;
  if (first === undefined) throw new Error(`macro "${node.macro}" lacks its expression`);
  // The condition of map(item, condition, transformation) is the last argument.
  const args = second === undefined ? [range, first] : [range, second, first];
  const helper =
    (node.variables.length === 2 && ENTRY_HELPERS.get(node.macro)) || HELPERS[node.macro];
  const isBool = node.macro === "all" || node.macro === "exists" || node.macro === "existsOne";
  return emitter.call(helper, args, isBool ? { ts: "boolean" } : {});
}

/** Emits `exists` and `all` as tests: `some` and `every`, with a test inside. */
export function macroTest(
  emitter: Emitter,
  node: MacroNode,
  wanted: boolean,
): EmittedValue | undefined {
  const isQuantifier = node.macro === "exists" || node.macro === "all";
  const [body] = node.bodies;
  if (!isQuantifier || node.variables.length !== 1 || body === undefined) return undefined;
  const range = rangeCode(emitter, node, emitter.value(node.range));
  const helper = (node.macro === "exists") === wanted ? "some" : "every";
  const test = bodyOf(emitter, node, range, (each) =>
    wanted ? each.isTrue(body) : each.isFalse(body),
  );
  return emitter.call(`collections/comprehensions#${helper}`, [range, test], {
    ts: "boolean",
    mayFail: false,
  });
}

const HELPERS = {
  all: "collections/comprehensions#all",
  exists: "collections/comprehensions#exists",
  existsOne: "collections/comprehensions#existsOne",
  filter: "collections/comprehensions#filter",
  map: "collections/comprehensions#map",
  transformList: "collections/entries#transformList",
  transformMap: "collections/entries#transformMap",
  transformMapEntry: "collections/entries#transformMapEntry",
  sortBy: "collections/lists#sortBy",
  mapValues: "collections/maps#mapValues",
  filterKeys: "collections/maps#filterKeys",
  with: "values/logic#bind",
  bind: "values/logic#bind",
  optMap: "values/optional#optMap",
  optFlatMap: "values/optional#optFlatMap",
} as const;

/** Macros with two variables that also have a form with one. */
const ENTRY_HELPERS: ReadonlyMap<string, string> = new Map([
  ["all", "collections/entries#allEntries"],
  ["exists", "collections/entries#existsEntry"],
  ["existsOne", "collections/entries#existsOneEntry"],
]);

/** Macros that iterate over items; the others bind one value. */
const LOOPS: ReadonlySet<string> = new Set(
  "all exists existsOne filter map transformList transformMap transformMapEntry sortBy mapValues filterKeys".split(
    " ",
  ),
);

/** Maximum total number of iterations of nested loops. */
const MAX_STEPS = 1_000_000;

/** Emits the range of a loop, with a limit inside other loops because their iterations multiply. */
function rangeCode(emitter: Emitter, node: MacroNode, range: EmittedValue): EmittedValue {
  const depth = emitter.scope.loopDepth + loopHeight(node);
  if (!LOOPS.has(node.macro) || depth < 2) return range;
  const limit = Math.floor(MAX_STEPS ** (1 / depth));
  const call = emitter.call("collections/comprehensions#atMost", [
    simple(value(limit), "number"),
    range,
  ]);
  return range.isJson ? { ...call, isJson: true } : call;
}

/** Returns the nesting depth of the loops in a node. */
function loopHeight(node: Node): number {
  if (node.kind !== "macro" || !LOOPS.has(node.macro)) {
    return Math.max(0, ...childrenOf(node).map(loopHeight));
  }
  return Math.max(loopHeight(node.range), 1 + Math.max(0, ...node.bodies.map(loopHeight)));
}

/** Emits an arrow function with the macro's variables as parameters. */
function bodyOf(
  emitter: Emitter,
  node: MacroNode,
  range: EmittedValue,
  emit: (emitter: Emitter) => EmittedValue,
): { readonly expression: Expression } {
  const known = variableValue(node, range);
  const parameters: LocalName[] = [];
  const nest = (at: number): EmittedValue => {
    const variable = node.variables[at];
    if (variable === undefined) return emit(emitter);
    return emitter.scope.withVariable(variable.name, known, (parameter) => {
      parameters.push(parameter);
      return nest(at + 1);
    });
  };
  const isLoop = LOOPS.has(node.macro);
  const { expression } = isLoop ? emitter.scope.inLoop(() => nest(0)) : nest(0);
  const used = new Set(nodesOf(expression));
  const last = parameters.findLastIndex((parameter) => used.has(parameter));
  // An unused parameter begins with an underscore, or is omitted at the end.
  const named = parameters
    .slice(0, last + 1)
    .map((parameter) => (used.has(parameter) ? parameter : local(`_${parameter.proposal}`)));
  return { expression: arrow(named, expression) };
}

/** Returns the known properties of a macro's variable. */
function variableValue(node: MacroNode, range: EmittedValue): Partial<EmittedValue> {
  if (node.macro === "bind" || node.macro === "with") {
    const { opposite: _opposite, ...known } = range;
    return known;
  }
  return range.isJson ? { isJson: true } : {};
}
