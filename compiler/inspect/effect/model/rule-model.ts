import type { CelPhase } from "../../../cel/compile.ts";
import type { Rule } from "../../../model/rules.ts";
import { truthOfEmpty } from "../classes/element-classes.ts";
import {
  type LeafCondition,
  leavesOf,
  type OpaqueCondition,
  type RuleCondition,
  type Truth,
} from "../conditions/condition.ts";
import { type DataPath, pathKey } from "../data/data-path.ts";
import { dataAt, ITEM, listElements, type RequestData } from "../data/request-data.ts";
import { Diagrams, type NodeId, operation } from "../diagram/diagrams.ts";
import { RULE_ORDER, runCondition } from "../rules/run-rules.ts";
import { Work } from "../work/work.ts";
import { LeafRuns } from "./leaf-runs.ts";
import { type ConditionCase, conditionCases } from "./rule-cases.ts";
import { truthOperations } from "./truth-operations.ts";
import { sizeOfVariable, type ValueVariable, type Variable, variableKey } from "./variable.ts";
import { orderedVariables } from "./variable-order.ts";
import { type LeafRunner, stepsTo } from "./variables-of.ts";

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
  /** What is left to the question that it is made for. */
  readonly work: Work;
  readonly #phase: CelPhase;
  readonly #runs: LeafRuns;
  readonly #cases = new Map<Rule, readonly ConditionCase[]>();
  readonly #levels = new Map<string, number>();
  readonly #truths = truthOperations();
  readonly #done = new Map<RuleCondition, NodeId>();

  /**
   * A model of rules, and of conditions (`mcp.tool.name == "x"`) that are to be classed apart besides: before and after
   * them. Throws `TooMuchWork` where it is too large, as everything does that is worked out on it.
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
        return diagrams.terminal(this.#runs.truthOf(leaf, path, example));
      });
      return diagrams.choice(this.#levelOf(variable), children);
    }, diagrams.terminal("error"));
  }

  /** What a condition is for lists, or for a map with fields, which is the list of its keys. */
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

  /** The class of a variable for a request. */
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

  /** The variable of the value at a path. */
  #dataAt(path: DataPath): ValueVariable {
    const found = this.variables.find(
      (each) => each.kind === "value" && pathKey(each.path) === pathKey(path),
    );
    if (found?.kind !== "value") throw new Error("a path that the model does not know");
    return found;
  }

  #levelOf(variable: Variable): number {
    return this.#levels.get(variableKey(variable)) ?? -1;
  }
}

/** A terminal of a decision: `+ 2` when the rule 2 allows, `-` when nothing allows. */
export function decisionText(isAllowed: boolean, rule: number | undefined): string {
  const sign = isAllowed ? "+" : "-";
  return rule === undefined ? sign : `${sign} ${rule}`;
}
