import type { Rule } from "../../../compiler/ir/rules.ts";
import { type Code, code, comment, type Hole, name } from "../../code/code.ts";
import type { Expressions } from "../../code/expression.ts";
import { ifStatement } from "../../code/statements.ts";

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
  const {
    action,
    expression: { source, code: emitted },
  } = rule;
  const test = expressions.use(emitted);
  const condition = action === "require" ? negated(emitted.text, test) : test;
  const conditions = [
    ...subject(rule),
    isLoose(rule, emitted.text) ? code`(${condition})` : condition,
  ];
  return code`
    ${comment(`${label}${source}`)}
    ${ifStatement(conditions, code`return ${name(verdict)};`)}
  `;
}

/** The conditions under which a deny or require rule is about the item at all. */
function subject({ action, about }: Rule): readonly Code[] {
  return action === "allow" ? [] : about.map((kind) => code`mcp.${name(kind)} !== undefined`);
}

/** Whether a condition that stands behind `&&` needs parentheses. */
function isLoose(rule: Rule, text: string): boolean {
  return rule.action === "deny" && subject(rule).length > 0 && /\|\||\?\?| \? /.test(text);
}

/** `!` binds tighter than any operator, so anything but a call or a name is put in parentheses. */
function negated(text: string, test: Code): Code {
  return /^[\w$.?]+(\([^()]*\))?$/.test(text) ? code`!${test}` : code`!(${test})`;
}

function variablesOf(rule: Rule): readonly string[] {
  return subject(rule).length === 0
    ? rule.expression.variables
    : [...rule.expression.variables, "mcp"];
}
