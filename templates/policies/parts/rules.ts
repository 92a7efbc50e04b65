import type { Rule } from "../../../compiler/model/rules.ts";
import { code, comment } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import type { Code, Expression, Hole } from "../../code/hole.ts";
import { name } from "../../code/names.ts";
import { ifStatement } from "../../code/statements.ts";
import { binary, member, negation, value } from "../../code/syntax.ts";

/** Rules as a function body and what it needs. */
export interface RulesCode {
  /** The statements: deny rules, required ones, then the allowing ones; the first that decides returns. */
  readonly body: readonly Hole[];
  /** The variables that the rules read, sorted. */
  readonly variables: readonly string[];
}

/**
 * Writes rules down in the order that decides: any deny wins, then any unmet require, then any allow. Without allow
 * rules whatever nothing objected to is allowed.
 */
export function rulesCode(rules: readonly Rule[], expressions: Expressions): RulesCode {
  const byAction = (action: Rule["action"]): readonly Rule[] =>
    rules.filter((rule) => rule.action === action);
  const [deny, require, allow] = [byAction("deny"), byAction("require"), byAction("allow")];
  const last = allow.length === 0 ? code`return true;` : code`return false;`;
  return {
    body: [
      ...deny.map((rule) => statement(rule, "deny: ", "false", expressions)),
      ...require.map((rule) => statement(rule, "require: ", "false", expressions)),
      ...allow.map((rule) => statement(rule, "", "true", expressions)),
      last,
    ],
    variables: [...new Set(rules.flatMap(variablesOf))].sort(),
  };
}

function statement(rule: Rule, label: string, verdict: string, expressions: Expressions): Code {
  const { action, expression } = rule;
  const test = expressions.use(expression.code);
  const conditions = [...subject(rule), action === "require" ? negation(test) : test];
  return code`
    ${comment(`${label}${expression.source}`)}
    ${ifStatement(conditions, code`return ${name(verdict)};`)}
  `;
}

/** The conditions under which a deny or require rule is about the item at all. */
function subject({ action, about }: Rule): readonly Expression[] {
  if (action === "allow") return [];
  return about.map((kind) => binary("!==", [member(name("mcp"), kind), value(undefined)]));
}

function variablesOf(rule: Rule): readonly string[] {
  return subject(rule).length === 0
    ? rule.expression.variables
    : [...rule.expression.variables, "mcp"];
}
