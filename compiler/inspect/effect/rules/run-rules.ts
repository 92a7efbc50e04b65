import { type CelPhase, compileExpression } from "../../../cel/compile.ts";
import { variablesFrom } from "../../../cel/evaluate/evaluate-data.ts";
import { functionOf } from "../../../cel/evaluate/run-code.ts";
import type { Rule, RuleCase } from "../../../model/rules.ts";
import type { Truth } from "../conditions/condition.ts";
import type { RequestData } from "../data/request-data.ts";
import { requestReadings } from "../data/request-readings.ts";

/** Decision of rules, with the index of the deciding rule; `undefined` if the default applies. */
export interface RuleDecision {
  readonly isAllowed: boolean;
  readonly rule: number | undefined;
}

/** Order in which rules are evaluated, as in templates/backends/parts/rules.ts. */
export const RULE_ORDER = ["deny", "require", "allow"] as const;

type Variables = ReturnType<typeof variablesFrom>;

/** Runs compiled rules on a request, which is allowed only if every reading of it is. */
export function runRules(rules: readonly Rule[], data: RequestData): RuleDecision {
  const readings = requestReadings(
    data,
    rules.map(({ expression }) => expression),
  );
  if (readings === undefined) return { isAllowed: false, rule: undefined };
  let decision: RuleDecision = { isAllowed: false, rule: undefined };
  for (const reading of readings) {
    decision = runOnReading(rules, reading);
    if (!decision.isAllowed) break;
  }
  return decision;
}

function runOnReading(rules: readonly Rule[], data: RequestData): RuleDecision {
  const variables = variablesFrom(data);
  for (const action of RULE_ORDER) {
    for (const [index, rule] of rules.entries()) {
      if (rule.action === action && decides(rule, variables))
        return { isAllowed: action === "allow", rule: index };
    }
  }
  return { isAllowed: !rules.some(({ action }) => action === "allow"), rule: undefined };
}

/** Evaluates a condition on a request. */
export function runCondition(text: string, phase: CelPhase, data: RequestData): Truth {
  const value = compiledCondition(text, phase)(variablesFrom(data));
  return value === true ? "true" : value === false ? "false" : "error";
}

function decides(rule: Rule, variables: Variables): boolean {
  return rule.cases.some((each) => {
    if (!isAbout(each, variables)) return false;
    const isMet = compiledCase(each)(variables) === true;
    return rule.action === "require" ? !isMet : isMet;
  });
}

function isAbout({ present, absent }: RuleCase, variables: Variables): boolean {
  const isThere = (path: string): boolean =>
    path.split(".").reduce<unknown>((value, field) => Object(value)[field], variables) !==
    undefined;
  return present.length > 0 ? present.every(isThere) : !absent.some(isThere);
}

type Compiled = (variables: Variables) => unknown;

/** Compiled functions by expression: a rule is run thousands of times. */
const cases = new WeakMap<RuleCase, Compiled>();
const conditions = new Map<string, Compiled>();

function compiledCase(rule: RuleCase): Compiled {
  const known = cases.get(rule);
  if (known !== undefined) return known;
  const made = functionOf(rule.expression.code, rule.expression.variables);
  cases.set(rule, made);
  return made;
}

function compiledCondition(text: string, phase: CelPhase): Compiled {
  const key = `${phase} ${text}`;
  const known = conditions.get(key);
  if (known !== undefined) return known;
  const { expression } = compileExpression(text, { phase, slot: "value" });
  if (expression === undefined) throw new Error(`a part of a rule does not compile: ${text}`);
  const made = functionOf(expression.code, expression.variables);
  conditions.set(key, made);
  return made;
}
