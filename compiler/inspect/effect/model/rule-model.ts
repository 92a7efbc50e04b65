import { type CelPhase, ruleCases } from "../../../cel/compile.ts";
import { parseExpression } from "../../../cel/parse/parse.ts";
import { Problems } from "../../../cel/parse/problems.ts";
import type { Rule } from "../../../model/rules.ts";
import { truthOfEmpty } from "../classes/element-classes.ts";
import {
  conditionOf,
  type LeafCondition,
  type OpaqueCondition,
  type RuleCondition,
  type Truth,
} from "../conditions/condition.ts";
import { type DataPath, pathKey } from "../data/data-path.ts";
import { dataAt, dataWith, ITEM, listElements, type RequestData } from "../data/request-data.ts";
import { Diagrams, type NodeId, operation } from "../diagram/diagrams.ts";
import { RULE_ORDER, runCondition } from "../rules/run-rules.ts";
import { featureTest, featureVector } from "../strings/string-feature.ts";
import { truthOperations } from "./truth-operations.ts";
import { rankOf, sizeOfVariable, type ValueVariable, type Variable } from "./variable.ts";
import { stepsTo, variablesOf } from "./variables-of.ts";

/** The part of a rule that is about some items. */
interface ConditionCase {
  /** The item's kind, when it is about one. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
  readonly condition: RuleCondition;
}

const TRUTHS: readonly Truth[] = ["true", "false", "error"];

/**
 * What rules decide, as diagrams. A condition over one value is compiled and run, once for each class of values; only
 * the logic between conditions is computed here. The decision's terminals are those of `decisionText`.
 */
export class RuleModel {
  readonly diagrams: Diagrams;
  readonly variables: readonly Variable[];
  /** Every condition of the rules that is no logic, each once, in the order in which they are read. */
  readonly leaves: readonly (LeafCondition | OpaqueCondition)[];
  /** Whether every value has a class; where not, what is computed is a guess. */
  readonly isComplete: boolean;
  readonly #phase: CelPhase;
  readonly #cases = new Map<Rule, readonly ConditionCase[]>();
  readonly #levels = new Map<string, number>();
  readonly #truths = truthOperations();
  readonly #done = new Map<RuleCondition, NodeId>();
  readonly #runs = new Map<string, Truth>();
  readonly #tests = new Map<LeafCondition, (value: string) => string>();

  /** A model of rules, and of conditions (`mcp.tool.name == "x"`) that are to be classed apart besides. */
  constructor(
    phase: CelPhase,
    rules: readonly Rule[],
    conditions: readonly RuleCondition[] = [],
    limit?: number,
  ) {
    this.#phase = phase;
    this.diagrams = new Diagrams(limit);
    for (const rule of rules) this.#cases.set(rule, conditionCases(rule, phase));
    const cases = [...this.#cases.values()].flat();
    const leaves = new Map<string, LeafCondition | OpaqueCondition>();
    for (const condition of [...conditions, ...cases.map((each) => each.condition)])
      for (const leaf of leavesOf(condition)) leaves.set(leaf.text, leaf);
    this.leaves = [...leaves.values()];
    this.variables = this.#ordered();
    for (const variable of this.variables)
      this.#levels.set(keyOf(variable), this.diagrams.variable(sizeOfVariable(variable)));
    this.isComplete = this.variables.every(
      (each) => each.kind !== "value" || (each.isComplete && (each.elements?.isComplete ?? true)),
    );
  }

  /** What the rules decide. */
  decision(rules: readonly Rule[]): NodeId {
    const { diagrams } = this;
    const hasAllow = rules.some(({ action }) => action === "allow");
    const last = diagrams.terminal(decisionText(!hasAllow, undefined));
    const ordered = RULE_ORDER.flatMap((action) =>
      rules.flatMap((rule, index) => (rule.action === action ? { rule, index } : [])),
    );
    return ordered.reduceRight((below, { rule, index }) => {
      const decided = diagrams.terminal(decisionText(rule.action === "allow", index));
      return diagrams.select(this.#decides(rule), decided, below);
    }, last);
  }

  /** `1` where a rule decides. */
  #decides(rule: Rule): NodeId {
    const { diagrams } = this;
    const pass = rule.action === "deny" ? "false" : "true";
    const isMet = operation((value) =>
      (value === pass) === (rule.action === "allow") ? "1" : "0",
    );
    return (this.#cases.get(rule) ?? []).reduce((before, { present, absent, condition }) => {
      const test = diagrams.map(isMet, this.truth(condition));
      const here = diagrams.select(this.#isAbout(present, absent), test, diagrams.terminal("0"));
      return diagrams.select(before, diagrams.terminal("1"), here);
    }, diagrams.terminal("0"));
  }

  #isAbout(present: readonly string[], absent: readonly string[]): NodeId {
    if (present.length + absent.length === 0) return this.diagrams.terminal("1");
    const variable = this.#dataAt(ITEM);
    const children = variable.classes.map(({ example }) => {
      const path = `mcp.${example}`;
      const isAbout = present.length > 0 ? present.includes(path) : !absent.includes(path);
      return this.diagrams.terminal(isAbout ? "1" : "0");
    });
    return this.diagrams.choice(this.#levelOf(variable), children);
  }

  /** A condition as a diagram of its truth. */
  truth(condition: RuleCondition): NodeId {
    const known = this.#done.get(condition);
    if (known !== undefined) return known;
    const made = this.#truthOf(condition);
    this.#done.set(condition, made);
    return made;
  }

  #truthOf(condition: RuleCondition): NodeId {
    const { diagrams } = this;
    const { and, or, not, whenTrue, whenFalse, either } = this.#truths;
    switch (condition.kind) {
      case "and":
      case "or": {
        const join = condition.kind === "and" ? and : or;
        const start = diagrams.terminal(condition.kind === "and" ? "true" : "false");
        return condition.parts.reduce(
          (all, part) => diagrams.apply(join, all, this.truth(part)),
          start,
        );
      }
      case "not":
        return diagrams.map(not, this.truth(condition.of));
      case "if": {
        const test = this.truth(condition.test);
        const yes = diagrams.apply(whenTrue, test, this.truth(condition.yes));
        const no = diagrams.apply(whenFalse, test, this.truth(condition.no));
        return diagrams.apply(either, yes, no);
      }
      case "constant":
        return diagrams.terminal(runCondition(condition.text, this.#phase, {}));
      case "opaque": {
        const level = this.#levels.get(`? ${condition.text}`);
        if (level === undefined) throw new Error("a condition that the model does not know");
        return diagrams.choice(
          level,
          TRUTHS.map((truth) => diagrams.terminal(truth)),
        );
      }
      case "leaf":
        return this.#leafDiagram(condition);
    }
  }

  /** A condition over one value: what it is for each class of the value, and of what owns it. */
  #leafDiagram(leaf: LeafCondition): NodeId {
    const { diagrams } = this;
    const steps = stepsTo(leaf.path);
    return steps.reduceRight<NodeId>((below, path, index) => {
      const variable = this.#dataAt(path);
      const isLast = index === steps.length - 1;
      const children = variable.classes.map(({ example, leadsTo }) => {
        if (isLast && path !== ITEM && leadsTo !== "nothing")
          return this.#onList(leaf, variable, example);
        const isOnWay = path === ITEM ? example === leaf.path[1] : leadsTo === "fields";
        if (!isLast && isOnWay) return below;
        return diagrams.terminal(this.#run(leaf, path, example));
      });
      return diagrams.choice(this.#levelOf(variable), children);
    }, diagrams.terminal("error"));
  }

  /** What a condition is for lists, or for a map with fields, which is the list of its keys. */
  #onList(leaf: LeafCondition, variable: ValueVariable, example: unknown): NodeId {
    const { diagrams } = this;
    const { path, elements, largestSize } = variable;
    if (leaf.form !== "value" && elements !== undefined) {
      const empty = diagrams.terminal(truthOfEmpty(leaf.form));
      const join = leaf.form === "all" ? this.#truths.and : this.#truths.or;
      return elements.truthsOf(leaf.text).reduce((all, truth, index) => {
        if (elements.neutral.has(index)) return all;
        const level = this.#levelOf({ kind: "element", path, index });
        const has = diagrams.choice(level, [empty, diagrams.terminal(truth)]);
        return diagrams.apply(join, all, has);
      }, empty);
    }
    if (leaf.features.sizes.size > 0 && largestSize !== undefined) {
      const sizes = Array.from({ length: largestSize + 1 }, (_, size) => {
        const list = Array.from({ length: size }, () => "other");
        return diagrams.terminal(this.#run(leaf, path, list));
      });
      return diagrams.choice(this.#levelOf({ kind: "size", path, largest: largestSize }), sizes);
    }
    return diagrams.terminal(this.#run(leaf, path, example));
  }

  /** Runs a condition, once for each combination of what it tells apart itself. */
  #run(leaf: LeafCondition, path: DataPath, example: unknown): Truth {
    const own = this.#ownClass(leaf, example);
    const key = own === undefined ? undefined : `${leaf.text} ${path.length} ${own}`;
    const known = key === undefined ? undefined : this.#runs.get(key);
    if (known !== undefined) return known;
    const found = runCondition(leaf.text, this.#phase, dataWith([[path, example]]));
    if (key !== undefined) this.#runs.set(key, found);
    return found;
  }

  /** How a condition sees a string or a number; undefined for other values, which are few. */
  #ownClass(leaf: LeafCondition, example: unknown): string | undefined {
    const { strings, numbers, networks } = leaf.features;
    if (networks.size > 0 || leaf.form !== "value") return undefined;
    if (typeof example === "number")
      return `number ${[...numbers].map((each) => Math.sign(example - each)).join()}`;
    if (typeof example !== "string") return undefined;
    const test = this.#tests.get(leaf) ?? vectorTest([...strings.values()].map(featureTest));
    this.#tests.set(leaf, test);
    return `string ${test(example)}`;
  }

  /** The class of a variable for a request. */
  classOf(level: number, data: RequestData): number {
    const variable = this.variables[level];
    switch (variable?.kind) {
      case undefined:
        return -1;
      case "opaque":
        return TRUTHS.indexOf(runCondition(variable.text, this.#phase, data));
      case "size":
        return Math.min(listElements(dataAt(variable.path, data)).length, variable.largest);
      case "element": {
        const { elements } = this.#dataAt(variable.path);
        const list = listElements(dataAt(variable.path, data));
        return list.some((each) => elements?.classOf(each) === variable.index) ? 1 : 0;
      }
      case "value":
        return variable.classOf(dataAt(variable.path, data));
    }
  }

  /** The variable of the value at a path. */
  #dataAt(path: DataPath): ValueVariable {
    const found = this.variables.find(
      (each) => each.kind === "value" && pathKey(each.path) === pathKey(path),
    );
    if (found?.kind !== "value") throw new Error("a path that the model does not know");
    return found;
  }

  #levelOf(variable: Variable): number {
    return this.#levels.get(keyOf(variable)) ?? -1;
  }

  #ordered(): readonly Variable[] {
    const classed = this.leaves.filter((each) => each.kind === "leaf");
    const run = (leaf: LeafCondition, path: DataPath, value: unknown): Truth =>
      this.#run(leaf, path, value);
    const values = variablesOf(classed, run);
    const hasItem = values.some((each) => keyOf(each) === keyOf(NO_ITEM));
    const item = this.#phase === "mcp" && !hasItem ? variablesOf([NO_ITEM_LEAF], run) : [];
    const opaque = this.leaves.flatMap((each): readonly Variable[] =>
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
}

/** A terminal of a decision: `+ 2` when the rule 2 allows, `-` when nothing allows. */
export function decisionText(isAllowed: boolean, rule: number | undefined): string {
  const sign = isAllowed ? "+" : "-";
  return rule === undefined ? sign : `${sign} ${rule}`;
}

const NO_ITEM: Variable = {
  kind: "value",
  path: ITEM,
  classes: [],
  classOf: () => -1,
  isComplete: true,
  elements: undefined,
  largestSize: undefined,
};

const NO_ITEM_LEAF: LeafCondition = {
  kind: "leaf",
  path: ITEM,
  text: "true",
  form: "value",
  features: {
    strings: new Map(),
    numbers: new Set(),
    networks: new Set(),
    sizes: new Set(),
    elements: undefined,
  },
};

function conditionCases(rule: Rule, phase: CelPhase): readonly ConditionCase[] {
  const whole = (): ConditionCase => {
    const root = parseExpression(rule.text, new Problems());
    if (root === undefined) throw new Error("a rule that was compiled is no expression");
    return { present: [], absent: [], condition: conditionOf(root) };
  };
  if (rule.expression.code.kind === "value") return [whole()];
  const found = ruleCases(rule.text, phase, rule.action);
  if (found.kind !== "cases") return [whole()];
  return found.cases.map(({ situation, node }) => ({
    present: situation?.present ?? [],
    absent: situation?.absent ?? [],
    condition: conditionOf(node),
  }));
}

/** The conditions that a condition is made of. */
function leavesOf(condition: RuleCondition): readonly (LeafCondition | OpaqueCondition)[] {
  switch (condition.kind) {
    case "and":
    case "or":
      return condition.parts.flatMap(leavesOf);
    case "not":
      return leavesOf(condition.of);
    case "if":
      return [condition.test, condition.yes, condition.no].flatMap(leavesOf);
    case "constant":
      return [];
    case "leaf":
    case "opaque":
      return [condition];
  }
}

function vectorTest(tests: readonly ((value: string) => boolean)[]): (value: string) => string {
  return (value) => featureVector(tests, value);
}

function keyOf(variable: Variable): string {
  switch (variable.kind) {
    case "value":
      return `= ${pathKey(variable.path)}`;
    case "element":
      return `${variable.index} in ${pathKey(variable.path)}`;
    case "size":
      return `size ${pathKey(variable.path)}`;
    case "opaque":
      return `? ${variable.text}`;
  }
}
