import { type CelPhase, ruleCases } from "../../../cel/compile.ts";
import type { Rule } from "../../../model/rules.ts";
import { truthOfEmpty } from "../classes/element-classes.ts";
import {
  conditionIn,
  conditionOf,
  type LeafCondition,
  leavesOf,
  type OpaqueCondition,
  type RuleCondition,
  type Truth,
} from "../conditions/condition.ts";
import { type DataPath, pathKey } from "../data/data-path.ts";
import { dataAt, ITEM, listElements, type RequestData } from "../data/request-data.ts";
import { Diagrams, type NodeId, type Operation, operation } from "../diagram/diagrams.ts";
import { RULE_ORDER, runCondition } from "../rules/run-rules.ts";
import { Work } from "../work/work.ts";
import { LeafRuns } from "./leaf-runs.ts";
import { sizeOfVariable, type ValueVariable, type Variable, variableKey } from "./variable.ts";
import { type LeafRunner, orderedVariables, stepsTo } from "./variables-of.ts";

const TRUTHS: readonly Truth[] = ["true", "false", "error"];

/**
 * Decisions of rules as diagrams. A condition over one value is compiled and run, once for each class of values; only
 * the logic between conditions is computed here. `decisionText` defines the terminals of a decision.
 */
export class RuleModel {
  readonly diagrams: Diagrams;
  readonly variables: readonly Variable[];
  /** Distinct leaf conditions of the rules, in reading order. */
  readonly leaves: readonly (LeafCondition | OpaqueCondition)[];
  /** Whether every value has a class; otherwise the results are a guess. */
  readonly isComplete: boolean;
  /** Remaining steps of the question that the model answers. */
  readonly work: Work;
  readonly #phase: CelPhase;
  readonly #runs: LeafRuns;
  readonly #cases = new Map<Rule, readonly ConditionCase[]>();
  readonly #levels = new Map<string, number>();
  readonly #truths = truthOperations();
  readonly #done = new Map<RuleCondition, NodeId>();

  /**
   * Creates a model of rules and of further conditions (`mcp.tool.name == "x"`) that are ordered before and after them.
   * Throws `TooMuchWork` if it is too large, as do its methods.
   */
  constructor(
    phase: CelPhase,
    rules: readonly Rule[],
    first: readonly RuleCondition[] = [],
    last: readonly RuleCondition[] = [],
    work = new Work(),
  ) {
    this.#phase = phase;
    this.work = work;
    this.#runs = new LeafRuns(phase, work);
    this.diagrams = new Diagrams(work);
    for (const rule of rules) this.#cases.set(rule, conditionCases(rule, phase, work));
    const cases = [...this.#cases.values()].flat();
    const leaves = new Map<string, LeafCondition | OpaqueCondition>();
    for (const condition of [...first, ...cases.map((each) => each.condition), ...last])
      for (const leaf of leavesOf(condition)) leaves.set(leaf.text, leaf);
    this.leaves = [...leaves.values()];
    const run: LeafRunner = (leaf, path, value) => this.#runs.truthOf(leaf, path, value);
    this.variables = orderedVariables(phase, this.leaves, run, work);
    for (const variable of this.variables)
      this.#levels.set(variableKey(variable), this.diagrams.variable(sizeOfVariable(variable)));
    this.isComplete = this.variables.every(
      (each) => each.kind !== "value" || (each.isComplete && (each.elements?.isComplete ?? true)),
    );
  }

  /** Returns the decision of rules. */
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

  /** Returns `1` where a rule decides. */
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

  /** Returns the truth of a condition as a diagram. */
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
        if (level === undefined) throw new Error("the model does not know this condition");
        return diagrams.choice(
          level,
          TRUTHS.map((truth) => diagrams.terminal(truth)),
        );
      }
      case "leaf":
        return this.#leafDiagram(condition);
    }
  }

  /** Returns the truth of a condition for each class of its value and of the value's owners. */
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
        return diagrams.terminal(this.#runs.truthOf(leaf, path, example));
      });
      return diagrams.choice(this.#levelOf(variable), children);
    }, diagrams.terminal("error"));
  }

  /** Returns the truth of a condition for lists, and for maps, which count as the list of their keys. */
  #onList(leaf: LeafCondition, variable: ValueVariable, example: unknown): NodeId {
    const { diagrams } = this;
    const { path, elements, sizes } = variable;
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
    if (leaf.features.sizes.size > 0 && sizes !== undefined) {
      const children = sizes.map((size) => {
        this.work.spend(size >> 2);
        const list = Array.from({ length: size }, () => "other");
        return diagrams.terminal(this.#runs.truthOf(leaf, path, list));
      });
      return diagrams.choice(this.#levelOf({ kind: "size", path, sizes }), children);
    }
    return diagrams.terminal(this.#runs.truthOf(leaf, path, example));
  }

  /** Returns the class of a variable for a request. */
  classOf(level: number, data: RequestData): number {
    const variable = this.variables[level];
    switch (variable?.kind) {
      case undefined:
        return -1;
      case "opaque":
        return TRUTHS.indexOf(runCondition(variable.text, this.#phase, data));
      case "size":
        return variable.sizes.findLastIndex(
          (size) => size <= listElements(dataAt(variable.path, data)).length,
        );
      case "element": {
        const { elements } = this.#dataAt(variable.path);
        const list = listElements(dataAt(variable.path, data));
        return list.some((each) => elements?.classOf(each) === variable.index) ? 1 : 0;
      }
      case "value":
        return variable.classOf(dataAt(variable.path, data));
    }
  }

  /** Returns the variable for the value at a path. */
  #dataAt(path: DataPath): ValueVariable {
    const found = this.variables.find(
      (each) => each.kind === "value" && pathKey(each.path) === pathKey(path),
    );
    if (found?.kind !== "value") throw new Error("the model does not know this path");
    return found;
  }

  #levelOf(variable: Variable): number {
    return this.#levels.get(variableKey(variable)) ?? -1;
  }
}

/** Formats a terminal of a decision: `+ 2` if rule 2 allows, `-` if no rule allows. */
export function decisionText(isAllowed: boolean, rule: number | undefined): string {
  const sign = isAllowed ? "+" : "-";
  return rule === undefined ? sign : `${sign} ${rule}`;
}

/** The part of a rule for certain kinds of items. */
interface ConditionCase {
  /** Kind of the item, if the part is for one. */
  readonly present: readonly string[];
  readonly absent: readonly string[];
  readonly condition: RuleCondition;
}

/** Splits a rule into conditions for each kind of items. */
function conditionCases(rule: Rule, phase: CelPhase, work: Work): readonly ConditionCase[] {
  const whole = () => ({ present: [], absent: [], condition: conditionIn(rule.text, work) });
  if (rule.expression.code.kind === "value") return [whole()];
  const found = ruleCases(rule.text, phase, rule.action);
  if (found.kind !== "cases") return [whole()];
  return found.cases.map(({ situation, node }) => ({
    present: situation?.present ?? [],
    absent: situation?.absent ?? [],
    condition: conditionOf(node, work),
  }));
}

/** CEL's logic on diagrams of truths: an error is absorbed by an operand that decides alone. */
interface TruthOperations {
  readonly and: Operation;
  readonly or: Operation;
  readonly not: Operation;
  /** Returns the value where the test is true. */
  readonly whenTrue: Operation;
  /** Returns the value where the test is false, an error where the test fails. */
  readonly whenFalse: Operation;
  /** Combines the results of `whenTrue` and `whenFalse`. */
  readonly either: Operation;
}

/** Creates the operations for one set of diagrams; they cache results by its nodes. */
function truthOperations(): TruthOperations {
  const joined = (decisive: string) => (a: string, b: string) => {
    if (a === decisive || b === decisive) return decisive;
    return a === "error" ? a : b;
  };
  return {
    and: operation(joined("false")),
    or: operation(joined("true")),
    not: operation((value) => OPPOSITE[value] ?? value),
    whenTrue: operation((test, value) => (test === "true" ? value : "")),
    whenFalse: operation((test, value) =>
      test === "false" ? value : test === "error" ? test : "",
    ),
    either: operation((a, b) => (a === "" ? b : a)),
  };
}

const OPPOSITE: Readonly<Record<string, string>> = { true: "false", false: "true" };
